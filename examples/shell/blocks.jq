# The blocks of a message: which of them go back to the API, and what a user reads of them.

def blank: .type == "text" and (.text | test("\\S") | not);
def thought: .type == "thinking" or .type == "redacted_thinking";

# Neighbouring texts are one, cut where citations begin and end.
def text: [.[] | if .type == "text" then .text else "\u0000" end] | add // "" | split("\u0000")
  | map(select(test("\\S"))) | join("\n\n");

# The block that answers a call. Blank text is not taken; an error says at least that it is one.
def answer($call; $said): ($said.content // "" | if type == "array" then map(select(blank | not)) else . end) as $content
  | {type: "tool_result", tool_use_id: $call.id}
  + if $content | if type == "array" then . != [] else test("\\S") end then {content: $content}
    elif $said.is_error then {content: "The tool failed, and did not say why."} else {} end
  + if $said.is_error then {is_error: true} else {} end;

# A history that the API takes back: calls that nobody answered are answered, or left out where the provider's.
def settled: .start as $start | .request.messages as $messages
  | [$messages[].content | arrays | .[].tool_use_id // empty] as $done
  | def open: (.type | test("^(server|mcp)_tool_use$")) and ([.id] - $done != []);
  [$messages[] | if .role == "assistant" and (.content | type == "array") then
      .content |= map(select(open | not)) | select(.content | all(thought) | not) else . end]
  | [.[$start:][].content | arrays | .[] | select(.type == "tool_use" and ([.id] - $done != []))] as $missing
  | if $missing == [] then . else . + [{role: "user", content: [$missing[] | . as $call
      | answer($call; {content: "\($call.name) was not run: the turn ended first.", is_error: true})]}] end;
