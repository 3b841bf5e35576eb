// The tool runner of the TypeScript SDK, which is a loop of its own, played for loop-harness:
//     npm install @anthropic-ai/sdk
//     loop-harness run --command 'node examples/node/sdk.mjs' --cwd .
// It has no notion of a wall clock, of pauses in a row, or of what a turn used: nothing of that is made up here. What
// it leaves to its caller is done here: a history that can go on, also after a reply that was refused, cut or empty.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { decide, settled } from "./decide.mjs";

// The SDK of the project this is started in.
const here = createRequire(`${process.cwd()}/`);
const load = (name) => import(pathToFileURL(here.resolve(name)));
const { Anthropic } = await load("@anthropic-ai/sdk");
const { ToolError } = await load("@anthropic-ai/sdk/lib/tools/ToolError");

const ENDS = { end_turn: "completed", stop_sequence: "completed", refusal: "refused",
  max_tokens: "truncated", model_context_window_exceeded: "truncated",
  // It goes on after these, so they are the last only where the iterations were used up.
  pause_turn: "capped", compaction: "capped", tool_use: "capped" };

const turn = JSON.parse(readFileSync(0, "utf8"));
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => stop.abort());
const hook = async (method, path, value, signal) => {
  const answer = await fetch(turn.harness_url + path, { method, body: value && JSON.stringify(value), signal });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};
const waiting = hook("GET", "/cancelled?wait=60").then(({ cancelled }) => cancelled && stop.abort(), () => {});

const tools = turn.tools.map((tool) => ({
  ...tool,
  parse: (input) => input,
  run: async (input, { signal }) => {
    const { content, is_error } = await hook("POST", `/tools/${tool.name}`, input, signal ?? stop.signal);
    if (is_error) throw new ToolError(content.length ? content : `${tool.name} failed`);
    return content;
  },
}));

const shown = [];
let last;
const client = new Anthropic({ baseURL: turn.base_url, apiKey: turn.api_key });
const { model, max_tokens, system, messages, stream, limits: { max_iterations } } = turn;
const runner = client.beta.messages.toolRunner(
  { model, max_tokens, ...(system && { system }), messages, tools, stream, thread: false, ...(max_iterations && { max_iterations }) },
  { signal: stop.signal },
);
const outcome = {};
try {
  for await (const step of runner) {
    last = stream ? await step.finalMessage() : step;
    const text = last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (text.trim()) shown.push(text);
  }
  Object.assign(outcome, { status: ENDS[last.stop_reason] ?? "failed", detail: last.stop_reason, shown, history: kept() });
} catch (error) {
  if (stop.signal.aborted) Object.assign(outcome, { status: "cancelled", shown });
  else outcome.raised = { type: error.constructor.name, message: error.message, traceback: error.stack };
}
function kept() {
  const { said = [], end, forget } = decide(last);
  if (forget) return messages.slice(0, -1);
  const history = runner.params.messages;
  if (!end) return settled(history, messages.length);
  const before = history.at(-1).role === "assistant" ? history.slice(0, -1) : history;
  return settled(said.length ? [...before, { role: "assistant", content: said }] : before, messages.length);
}

if ((await hook("GET", "/cancelled")).cancelled) await hook("DELETE", `/store/${turn.cancel_key}`);
await hook("POST", "/outcome", outcome);
await waiting;
