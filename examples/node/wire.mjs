// What the Messages API sends and takes, as it stands: a reply that goes back must be the one that came.

const WORDS = /"(?:[^"\\]+|\\.)*"|(?<![\d.])-?\d{16,}(?![\d.eE])/g;

// JSON.parse rounds integers beyond 2^53. They are kept as marked strings in between.
export const parse = (text) => JSON.parse(text.replace(WORDS, (word) => (word[0] === '"' ? word : `"\\u0000${word}"`)));
export const dump = (value) => JSON.stringify(value).replace(/"\\u0000(-?\d+)"/g, "$1");

// The events of a stream, however its bytes are cut.
async function* events(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n\r?\n/);
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split(/\r?\n/).filter((line) => line.startsWith("data:"));
      if (lines.length) yield parse(lines.map((line) => line.slice(5)).join("\n"));
    }
  }
}

// The message a stream adds up to, with all blocks and fields that came, known or not.
export async function streamed(body) {
  let message = {};
  const inputs = {};
  try {
    for await (const event of events(body)) {
      if (event.type === "message_start") message = { ...event.message, content: [] };
      else if (event.type === "content_block_start") message.content[event.index] = event.content_block;
      else if (event.type === "content_block_delta") add(message.content[event.index], event.delta, inputs, event.index);
      else if (event.type === "message_delta") {
        const { type, delta, usage, ...others } = event;
        message = { ...message, ...delta, ...others, usage: { ...message.usage, ...usage } };
      } else if (event.type === "error") throw new Error(`${event.error.type}: ${event.error.message}`);
      else if (event.type === "message_stop") break;
    }
  } catch (error) {
    // With the stop reason, the message was all there.
    if (!message.stop_reason) throw Object.assign(error, { usage: message.usage });
  }
  if (!message.stop_reason) throw Object.assign(new Error("the stream ended before the message"), { usage: message.usage });
  for (const [index, text] of Object.entries(inputs)) message.content[index].input = read(text);
  return message;
}

function add(block, { type, ...delta }, inputs, index) {
  if (type === "input_json_delta") inputs[index] = (inputs[index] ?? "") + delta.partial_json;
  else if (type === "citations_delta") block.citations = [...(block.citations ?? []), delta.citation];
  else for (const [name, value] of Object.entries(delta)) {
    block[name] = typeof value === "string" ? (block[name] ?? "") + value : value;
  }
}

// The input of a call that was cut, or that the model wrote badly, is none the model could have meant.
function read(text) {
  try {
    return text.trim() ? parse(text) : {};
  } catch {
    return { INVALID_JSON: text };
  }
}
