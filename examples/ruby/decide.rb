# What a reply means for the turn. The stop reason decides; what goes on stands above what ends.
require_relative "blocks"

End = Struct.new(:status, :note) do
  def self.capped(what) = new("capped", "Stopped: #{what}.")
  def self.failed(what) = new("failed", "The answer could not be completed: #{what}")
end

# said: blocks to keep; text: what to show; calls: to be answered. With `over` the turn has ended, and with `forget`
# its messages are dropped; `paused` counts against the limit of pauses.
Decision = Struct.new(:said, :text, :calls, :over, :forget, :paused, keyword_init: true)

def decide(reply)
  # The API sends blank text, and does not take it back; nor does it take thinking alone as a last message.
  said = reply["content"].reject { |block| Blocks.blank?(block) }
  calls = said.select { |block| Blocks.call?(block) }
  last = ->(blocks) { blocks.all? { |block| Blocks.thought?(block) } ? [] : blocks }
  ends = lambda do |over, blocks = said|
    Decision.new(said: last.(blocks), text: Blocks.text(said), over:)
  end
  case reply["stop_reason"]
  when "pause_turn", "compaction"
    Decision.new(said:, text: Blocks.text(said), paused: reply["stop_reason"] == "pause_turn")
  when "tool_use"
    return ends.(End.failed("it stopped for a tool and called none")) if calls.empty?

    Decision.new(said:, text: Blocks.text(said), calls:)
  when "refusal"
    Decision.new(forget: true, over: End.new("refused", "The model declined to answer this request."))
  when "max_tokens", "model_context_window_exceeded"
    ends.(End.new("truncated", "The answer is incomplete: the model reached a limit."), said - calls)
  when "end_turn", "stop_sequence"
    thought = said.any? && last.(said).empty?
    ends.(thought ? End.failed("the model thought and said nothing") : End.new("completed"))
  else
    ends.(End.failed("unknown stop reason #{reply['stop_reason']}"))
  end
end
