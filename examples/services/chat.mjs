// A chat behind one endpoint: the SDK's tool runner, and its answer as a stream of events. `PORT=3000 node chat.mjs`
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import Anthropic from "@anthropic-ai/sdk";

const conversations = new Map();
const lookUp = {
  name: "look_up",
  description: "Look something up.",
  input_schema: { type: "object", properties: {} },
  parse: (input) => input,
  run: async () => "It is in the second drawer.",
};

// What the user is told when the turn is over: only an answer that is whole is `done`.
export function ending(stopReason) {
  return ["end_turn", "stop_sequence"].includes(stopReason) ? ["done", {}] : ["unfinished", { reason: stopReason }];
}

async function turn(client, kept, prompt, say, signal) {
  const messages = [...kept, { role: "user", content: prompt }];
  const settings = { model: "claude-opus-4-6", max_tokens: 4096, tools: [lookUp], max_iterations: 10, stream: true };
  const runner = client.beta.messages.toolRunner({ ...settings, messages }, { signal });
  let last;
  for await (const stream of runner) {
    stream.on("text", (text) => say("delta", { text }));
    last = await stream.finalMessage();
  }
  const said = last.content.some((block) => block.type === "text" && block.text.trim());
  const calls = last.content.some((block) => block.type === "tool_use");
  return { stopReason: last.stop_reason, messages: said && !calls ? runner.params.messages : kept };
}

export function serve(port, ending) {
  const client = new Anthropic();
  const server = createServer(async (request, response) => {
    const { message, conversation } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const leaving = new AbortController();
    response.on("close", () => leaving.abort());
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    try {
      const kept = conversations.get(conversation) ?? [];
      const { stopReason, messages } = await turn(client, kept, message, say, leaving.signal);
      const [event, data] = ending(stopReason);
      // A turn without an answer leaves nothing behind that the next one would stumble on.
      if (event === "done") conversations.set(conversation, messages);
      say(event, data);
    } catch (error) {
      say(...ending(`error: ${error.constructor.name}`));
    }
    response.end();
  });
  server.listen(port, "127.0.0.1");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) serve(process.env.PORT, ending);
