// The loop, judged in its own tests: node --test examples/node/loop.test.mjs
import { test } from "node:test";
import { conformance } from "./harness.mjs";
import { run } from "./loop.mjs";
import { dump, parse } from "./wire.mjs";

function play(turn) {
  const { model, max_tokens, system, stream } = turn;
  const agent = {
    baseURL: turn.base_url,
    apiKey: turn.api_key,
    request: { model, max_tokens, system, tools: turn.tools, ...(stream && { stream }) },
    tools: turn.tools.map(({ name }) => ({ name, run: (input) => turn.tool(name, input) })),
    limits: turn.limits,
    stop: new AbortController().signal,
    cancelled: async () => (await turn.hook("GET", "/cancelled")).cancelled,
    report: (problem) => turn.hook("POST", "/report", { problem }),
    count: (totals) => turn.hook("POST", "/usage", totals),
    over: () => turn.hook("DELETE", `/store/${turn.cancel_key}`),
  };
  return run(agent, turn.messages);
}

const select = process.env.CONFORMANCE?.split(" ") ?? ["text", "pause", "tool", "refuse", "truncate"];
await conformance(test, play, select, { json: { parse, stringify: dump } });
