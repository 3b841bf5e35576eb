// What a reply means for the turn. The stop reason decides; what goes on stands above what ends.

export const capped = (what) => ({ status: "capped", note: `Stopped: ${what}.` });
export const failed = (what) => ({ status: "failed", note: `The answer could not be completed: ${what}` });

const isCall = (block) => block.type === "tool_use";
const isBlank = (block) => block.type === "text" && !block.text.trim();
const isThought = (block) => /^(redacted_)?thinking$/.test(block.type);

// { said, text, calls }: blocks to keep, text to show, calls to answer. With `end` the turn is over, and with
// `forget` its messages are dropped; `paused` counts against the limit of pauses.
export function decide({ stop_reason, content }) {
  // The API sends blank text, and does not take it back; nor does it take thinking alone as a last message.
  const said = content.filter((block) => !isBlank(block));
  const last = (blocks) => (blocks.every(isThought) ? [] : blocks);
  const calls = said.filter(isCall);
  const text = textOf(said);
  switch (stop_reason) {
    case "pause_turn":
      return { said, text, paused: true };
    case "compaction":
      return { said, text };
    case "tool_use":
      return calls.length ? { said, text, calls } : { said, text, end: failed("it stopped for a tool and called none") };
    case "refusal":
      return { forget: true, end: { status: "refused", note: "The model declined to answer this request." } };
    case "max_tokens":
    case "model_context_window_exceeded": {
      const note = "The answer is incomplete: the model reached a limit.";
      return { said: last(said.filter((block) => !isCall(block))), text, end: { status: "truncated", note } };
    }
    case "end_turn":
    case "stop_sequence":
      if (said.length && said.every(isThought)) return { said: [], end: failed("the model thought and said nothing") };
      return { said, text, end: { status: "completed" } };
    default:
      return { said: last(said), text, end: failed(`unknown stop reason ${stop_reason}`) };
  }
}

// Neighbouring texts are one, cut where citations begin and end.
function textOf(content) {
  const joined = content.map((block) => (block.type === "text" ? block.text : "\u0000")).join("");
  return joined.split("\u0000").filter((part) => part.trim()).join("\n\n");
}

// The history without what nobody will answer once another user message follows: calls get a result that says
// so, and calls of tools that the provider runs are left out.
export function settled(messages, start) {
  const done = new Set(messages.flatMap(blocks).map((block) => block.tool_use_id));
  const open = (block) => /^(server|mcp)_tool_use$/.test(block.type) && !done.has(block.id);
  const kept = messages.map((message) => (blocks(message).some(open)
    ? { ...message, content: message.content.filter((block) => !open(block)) } : message));
  const missing = kept.slice(start).flatMap(blocks).filter((block) => isCall(block) && !done.has(block.id));
  if (missing.length) kept.push({ role: "user", content: missing.map((call) => answered(call, notRun(call))) });
  return kept.filter((message) => message.role === "user" || !blocks(message).every(isThought));
}

const blocks = ({ content }) => (Array.isArray(content) ? content : [{ type: "text", text: content }]);

export const notRun = ({ name }) => ({ content: `${name} was not run: the turn ended first.`, is_error: true });

// The block that answers a call. Blank text is not taken; an error says at least that it is one.
export function answered({ id }, { content, is_error }) {
  let said = Array.isArray(content) ? content.filter((block) => !isBlank(block)) : content?.trim() && content;
  if (is_error && !said?.length) said = "The tool failed, and did not say why.";
  return { type: "tool_result", tool_use_id: id, ...(said?.length && { content: said }), ...(is_error && { is_error }) };
}
