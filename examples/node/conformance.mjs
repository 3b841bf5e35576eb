// Plays one turn of the loop for loop-harness, which starts this file anew for each:
//     loop-harness run --command 'node examples/node/conformance.mjs'
import { readFileSync } from "node:fs";
import { dump, parse } from "./wire.mjs";

const { run } = await import(`./${process.argv[2] ?? "loop.mjs"}`);
const turn = parse(readFileSync(0, "utf8"));
const stop = new AbortController();
const over = new AbortController();

const ask = async (method, path, value, signal) => {
  const answer = await fetch(turn.harness_url + path, { method, body: value && dump(value), signal });
  if (!answer.ok) throw new Error(await answer.text());
  return parse(await answer.text());
};
// What tells the owner something must not bring the turn down.
const tell = (...what) => ask(...what).catch((error) => console.error(error.message));

for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stop.abort());
// Hangs up in the middle of a request or a tool; `cancelled` is asked between them.
ask("GET", "/cancelled?wait=60", undefined, over.signal).then(({ cancelled }) => cancelled && stop.abort(), () => {});

const { model, max_tokens, system, stream } = turn;
const outcome = await run(
  {
    baseURL: turn.base_url,
    apiKey: turn.api_key,
    request: { model, max_tokens, system, tools: turn.tools, ...(stream && { stream }) },
    tools: turn.tools.map(({ name }) => ({ name, run: (input, signal) => ask("POST", `/tools/${name}`, input, signal) })),
    limits: turn.limits,
    stop: stop.signal,
    cancelled: async () => stop.signal.aborted || (await ask("GET", "/cancelled")).cancelled,
    report: (problem) => tell("POST", "/report", { problem }),
    count: (totals) => tell("POST", "/usage", totals),
    over: () => tell("DELETE", `/store/${turn.cancel_key}`),
  },
  turn.messages,
);
over.abort();
console.log(dump({ outcome }));
