# What an agent's turn on the Messages API knows, and what a reply means for it. The stop reason decides.
include "blocks";
include "reply";

def ends($status; $note): .over = {status: $status, note: $note};

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

def say($content): if $content == [] then . else .request.messages += [{role: "assistant", content: $content}] end;
def say_last($content): if $content | all(thought) then . else say($content) end;
def show($content): ($content | text) as $text | if $text == "" then . else .shown += [$text] end;

# Deals with a reply: what is kept and shown, the calls to be answered, or the end of the turn.
def taken($reply): $reply.stop_reason as $reason | [$reply.content[] | select(blank | not)] as $said
  | [$said[] | select(.type == "tool_use")] as $calls
  | .iterations += 1 | .calls = [] | counted($reply.usage)
  | if $reply.container then .request.container = $reply.container.id else . end
  | if $reason == "refusal" then . else show($said) end
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

# Keeps the result of a call; the results of all of them are one message.
def answered($i; $said): .results[$i] = answer(.calls[$i]; $said)
  | if (.results | length) < (.calls | length) then . else
      .request.messages += [{role: "user", content: .results}] | .results = [] | .calls = [] end;

def outcome: .over.note as $note | {outcome: {status: .over.status, history: settled, usage,
  shown: (.shown + if $note == "" then [] else [{content: $note, is_error: (.over.status != "refused")}] end)}};
