// An agent's turn on the Messages API, with nothing but fetch: ask, do what the reply calls for, ask again.
import { ask } from "./client.mjs";
import { answered, capped, decide, failed, notRun, settled } from "./decide.mjs";

const TOKENS = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

// agent: { baseURL, apiKey, request, tools, limits, stop, cancelled(), report(text), count(totals), over() };
// `stop` is an AbortSignal that hangs up, `over` forgets that the turn was cancelled.
// Resolves to { status, shown, history, usage }, whatever happens.
export async function run(agent, history) {
  const { limits, tools } = agent;
  const until = performance.now() + 1000 * (limits.wall_clock ?? 600);
  const left = () => Math.max(Math.ceil(until - performance.now()), 0);
  const signal = AbortSignal.any([agent.stop, AbortSignal.timeout(left())]);
  const usage = {};
  const shown = [];
  let messages = [...history];
  let [iterations, pauses, container] = [0, 0, undefined];

  const say = (role, content) => content?.length && messages.push({ role, content });
  const count = (used) => {
    for (const name of TOKENS) if (used[name] != null) usage[name] = (usage[name] ?? 0) + used[name];
  };
  const mustStop = async () => {
    if (await agent.cancelled()) return { status: "cancelled" };
    if (iterations >= (limits.max_iterations ?? 50)) return capped(`${iterations} requests were made`);
    return left() > 5 ? null : capped("the time is up");
  };

  // One request, and what follows from its reply: how the turn ends, or null.
  async function step() {
    const body = { ...agent.request, messages, ...(container && { container }) };
    const { reply, stop } = await ask(agent, body, { signal, left, mustStop, count });
    if (stop) return stop;
    iterations += 1;
    container = reply.container?.id ?? container;
    const { said, text, calls, paused, forget, end } = decide(reply);
    if (text) shown.push(text);
    if (forget) messages.length = history.length - 1;
    say("assistant", said);
    if (paused && ++pauses > (limits.pauses ?? 20)) return capped("it paused too often");
    if (calls) pauses = 0;
    if (calls) say("user", await answers(calls));
    return end ?? null;
  }

  async function answers(calls) {
    const results = [];
    for (const call of calls) {
      const tool = tools.find((one) => one.name === call.name);
      const unknown = { content: `There is no tool ${call.name}.`, is_error: true };
      const ran = (await mustStop()) ? notRun(call) : tool ? await attempt(tool, call.input) : unknown;
      results.push(answered(call, ran));
    }
    return results;
  }

  async function attempt(tool, input) {
    try {
      return await tool.run(input, signal);
    } catch (error) {
      return { content: `${tool.name} failed: ${error.message}`, is_error: true };
    }
  }

  let end = null;
  try {
    while (!end) end = (await mustStop()) ?? (await step());
    if (await agent.cancelled()) end = { status: "cancelled" };
  } catch (error) {
    end = failed(error.message);
  }
  messages = settled(messages, history.length);
  if (end.note) shown.push({ content: end.note, is_error: end.status !== "refused" });
  if (end.note && end.status !== "refused") await agent.report(end.note);
  await agent.count({ iterations, ...usage });
  await agent.over();
  return { status: end.status, shown, history: messages, usage };
}
