// The wrong twin of `loop.mjs`, as it is often written: it goes on as long as tools are called.
import { ask } from "./client.mjs";

export async function run(agent, history) {
  const messages = [...history];
  for (;;) {
    const hooks = { signal: agent.stop, left: () => Infinity, mustStop: () => null, count: () => {} };
    const { reply } = await ask(agent, { ...agent.request, messages }, hooks);
    messages.push({ role: "assistant", content: reply.content });
    const calls = reply.content.filter((block) => block.type === "tool_use");
    if (!calls.length) {
      const shown = reply.content.filter((block) => block.type === "text").map((block) => block.text);
      return { status: "completed", shown, history: messages };
    }
    const results = calls.map(async (call) => {
      const said = await agent.tools.find((tool) => tool.name === call.name).run(call.input);
      return { type: "tool_result", tool_use_id: call.id, ...said };
    });
    messages.push({ role: "user", content: await Promise.all(results) });
  }
}
