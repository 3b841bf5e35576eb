# The text of an answer of the Messages API, as a value.

# jq 1.6 rounds integers beyond 2^53: they are kept as marked strings until they are sent.
def read: if test("[0-9]{16}") then
    gsub("(?<s>\"(?:[^\"\\\\]|\\\\.)*\")|(?<n>-?[0-9]{16,})(?![0-9.eE])"; .s // "\"\\u0001\(.n)\"")
  else . end | fromjson;

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

# Seconds until the request is sent again, from the head of the answer; empty where it is not.
def pause($attempt; $status; $left):
  ([split("\n")[] | capture("^(?<key>[^:]+): *(?<value>[^\r]*)") | .key |= ascii_downcase] | from_entries) as $head
  | ([$head["retry-after-ms"] // empty | tonumber / 1000] + [$head["retry-after"] // empty | tonumber]
    + [0.5 * pow(2; $attempt)])[0] as $pause
  | if $attempt < 2 and $pause < $left and (if $head["x-should-retry"] then $head["x-should-retry"] == "true"
      else $status == 200 or $status == 0 or $status >= 500 or ([$status] - [408, 409, 429] == []) end)
    then $pause else empty end;
