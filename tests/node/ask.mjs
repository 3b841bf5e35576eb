// Asks a Messages API through the TypeScript SDK, as told on stdin, one line of JSON for each case, and says
// on stdout, one line each, what a program that uses the SDK would have seen.
//
//   node ask.mjs FOLDER-WITH-NODE_MODULES
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";

const sdk = createRequire(join(process.argv[2], "any.js"))("@anthropic-ai/sdk");
const Anthropic = sdk.default ?? sdk.Anthropic ?? sdk;

const ways = {
  create: (client, body) => client.messages.create(body),
  stream: (client, body) => client.messages.stream(body).finalMessage(),
  events: async (client, body) => {
    const seen = [];
    for await (const event of await client.messages.create({ ...body, stream: true })) seen.push(event.type);
    return { seen };
  },
};

function told(error) {
  return {
    name: error.constructor.name,
    is: ["APIError", "APIConnectionError", "APIConnectionTimeoutError", "AnthropicError"].filter(
      (name) => Anthropic[name] && error instanceof Anthropic[name],
    ),
    status: error.status ?? null,
    type: error.type ?? null,
    request: error.requestID ?? null,
    message: String(error.message),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { url, key, way, body, options } = JSON.parse(line);
  const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, logLevel: "off", ...options });
  let said;
  try {
    // Written out here: the input of a call is parsed when it is read, and may throw then.
    said = JSON.stringify({ got: await ways[way](client, body) });
  } catch (error) {
    said = JSON.stringify({ error: told(error) });
  }
  process.stdout.write(said + "\n");
}
