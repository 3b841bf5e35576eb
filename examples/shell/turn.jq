# What an agent's turn on the Messages API knows, and what a reply means for it. The stop reason decides.

def blank: .type == "text" and (.text | test("\\S") | not);
def thought: .type == "thinking" or .type == "redacted_thinking";
def ends($status; $note): .over = {status: $status, note: $note};

# jq 1.6 rounds integers beyond 2^53: they are kept as marked strings until they are sent.
def read: if test("[0-9]{16}") then
    gsub("(?<s>\"(?:[^\"\\\\]|\\\\.)*\")|(?<n>-?[0-9]{16,})(?![0-9.eE])"; .s // "\"\\u0001\(.n)\"")
  else . end | fromjson;

def begin: {
  again: true, over: null, calls: [],
  request: ({model, max_tokens, system, tools, messages} + if .stream then {stream} else {} end),
  start: (.messages | length), limits, until: (now + (.limits.wall_clock // 600)),
  iterations: 0, pauses: 0, usage: {}, shown: []};

def must_stop:
  if .over then .
  elif .iterations >= (.limits.max_iterations // 50) then ends("capped"; "Stopped after \(.iterations) requests.")
  elif now >= .until - 0.005 then ends("capped"; "Stopped: the time is up.")
  else . end;

def counted($used): reduce ("input_tokens", "output_tokens", "cache_creation_input_tokens",
  "cache_read_input_tokens") as $name (.; if $used[$name] then .usage[$name] += $used[$name] else . end);

# Seconds until the request is sent again, from the head of the answer; empty where it is not.
def pause($attempt; $status; $left):
  ([split("\n")[] | capture("^(?<key>[^:]+): *(?<value>[^\r]*)") | .key |= ascii_downcase] | from_entries) as $head
  | ([$head["retry-after-ms"] // empty | tonumber / 1000] + [$head["retry-after"] // empty | tonumber]
    + [0.5 * pow(2; $attempt)])[0] as $pause
  | if $attempt < 2 and $pause < $left and (if $head["x-should-retry"] then $head["x-should-retry"] == "true"
      else $status == 200 or $status == 0 or $status >= 500 or ([$status] - [408, 409, 429] == []) end)
    then $pause else empty end;

# The message that the lines of a stream add up to; without a stop reason it never came to its end.
def streamed: reduce (split("\n")[] | select(startswith("data:")) | .[5:] | try read catch {type: "broken"}) as $e ({};
  if .broken then .
  elif $e.type == "message_start" then $e.message + {content: []}
  elif $e.type == "content_block_start" then .content[$e.index] = $e.content_block
  elif $e.type == "message_delta" then . + $e.delta + ($e | del(.type, .delta, .usage)) + {usage: (.usage + $e.usage)}
  elif $e.type == "error" or $e.type == "broken" then .broken = true
  elif $e.type != "content_block_delta" then .
  elif $e.delta.type == "input_json_delta" then .inputs[$e.index | tostring] += $e.delta.partial_json
  elif $e.delta.type == "citations_delta" then .content[$e.index].citations += [$e.delta.citation]
  else reduce ($e.delta | del(.type) | to_entries[]) as {$key, $value} (.; .content[$e.index][$key] |=
    if $value | type == "string" then (. // "") + $value else $value end)
  end)
  | reduce ((.inputs // {}) | to_entries[]) as {$key, $value} (.; if $value | test("\\S") then
      .content[$key | tonumber].input = ($value | try read catch {INVALID_JSON: $value}) else . end)
  | del(.inputs, .broken);

# Neighbouring texts are one, cut where citations begin and end.
def text: [.[] | if .type == "text" then .text else "\u0000" end] | add // "" | split("\u0000")
  | map(select(test("\\S"))) | join("\n\n");

def say($content): if $content == [] then . else .request.messages += [{role: "assistant", content: $content}] end;
def say_last($content): if $content | all(thought) then . else say($content) end;
def show($content): ($content | text) as $text | if $text == "" then . else .shown += [$text] end;

# Deals with a reply: what is kept and shown, the calls to be answered, or the end of the turn.
def taken($reply): $reply.stop_reason as $reason | [$reply.content[] | select(blank | not)] as $said
  | [$said[] | select(.type == "tool_use")] as $calls
  | .iterations += 1 | .calls = [] | counted($reply.usage)
  | if $reply.container then .request.container = $reply.container.id else . end
  | if $reason == "refusal" then .request.messages |= .[:-1] else show($said) end
  | if $reason == "refusal" then
      .request.messages = .request.messages[: .start - 1] | ends("refused"; "The model declined to answer.")
    elif $reason == "pause_turn" then say($said) | .pauses += 1
      | if .pauses > (.limits.pauses // 20) then ends("capped"; "Stopped: it paused too often.") else . end
    elif $reason == "compaction" then say($said)
    elif $reason == "tool_use" and $calls != [] then say($said) | .pauses = 0 | .calls = $calls
    elif $reason == "tool_use" then say_last($said) | ends("failed"; "It stopped for a tool and called none.")
    elif $reason == "max_tokens" or $reason == "model_context_window_exceeded" then
      say_last($said - $calls) | ends("truncated"; "The answer is incomplete: the model reached a limit.")
    elif $reason == "end_turn" or $reason == "stop_sequence" then say_last($said)
      | if $said != [] and ($said | all(thought)) then ends("failed"; "The model said nothing.") else ends("completed"; "") end
    else say_last($said) | ends("failed"; "The model stopped for an unknown reason: \($reason).") end;

# Deals with the text of an answer, if it is a whole reply.
def received($text): ($text | try (if startswith("event:") or startswith("data:") then streamed else read end) catch {}) as $reply
  | if ($reply | type) == "object" and $reply.type == "message" and $reply.stop_reason then
      .again = false | .calls = [] | taken($reply)
    else .again = true | counted(($reply | objects | .usage) // {}) end;

# The block that answers a call. Blank text is not taken; an error says at least that it is one.
def answer($call; $said): ($said.content // "" | if type == "array" then map(select(blank | not)) else . end) as $content
  | {type: "tool_result", tool_use_id: $call.id}
  + if $content | if type == "array" then . != [] else test("\\S") end then {content: $content}
    elif $said.is_error then {content: "The tool failed, and did not say why."} else {} end
  + if $said.is_error then {is_error: true} else {} end;

# Keeps the result of a call; the results of all of them are one message.
def answered($i; $said): .results[$i] = answer(.calls[$i]; $said)
  | if (.results | length) < (.calls | length) then . else
      .request.messages += [{role: "user", content: .results}] | .results = [] | .calls = [] end;

# A history that the API takes back: calls that nobody answered are answered, or left out where the provider's.
def settled: .start as $start | .request.messages | map(if .content | type == "string" then . else
    .content as $content | . end) as $messages
  | [$messages[].content | arrays | .[].tool_use_id // empty] as $done
  | def open: (.type | test("^(server|mcp)_tool_use$")) and ([.id] - $done != []);
  [$messages[] | if .role == "assistant" and (.content | type == "array") then
      .content |= map(select(open | not)) | select(.content | all(thought) | not) else . end]
  | [.[$start:][].content | arrays | .[] | select(.type == "tool_use" and ([.id] - $done != []))] as $missing
  | if $missing == [] then . else . + [{role: "user", content: [$missing[] | . as $call
      | answer($call; {content: "\($call.name) was not run: the turn ended first.", is_error: true})]}] end;

def outcome: .over.note as $note | {outcome: {status: .over.status, history: settled, usage,
  shown: (.shown + if $note == "" then [] else [{content: $note, is_error: (.over.status != "refused")}] end)}};
