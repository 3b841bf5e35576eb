# The blocks of a message: which of them go back to the API, and what a user reads of them.
module Blocks
  module_function

  def of(message) = message["content"].is_a?(Array) ? message["content"] : []
  def call?(block) = block["type"] == "tool_use"
  def blank?(block) = block["type"] == "text" && block["text"].strip.empty?
  def thought?(block) = block["type"].end_with?("thinking")

  # Neighbouring texts are one, cut where citations begin and end.
  def text(content)
    joined = content.map { |block| block["type"] == "text" ? block["text"] : "\0" }.join
    joined.split("\0").reject { |part| part.strip.empty? }.join("\n\n")
  end

  # The block that answers a call. Blank text is not taken; an error says at least that it is one.
  def answer(call, ran)
    content = ran["content"]
    content = content.is_a?(Array) ? content.reject { |block| blank?(block) } : content.to_s
    content = "The tool failed, and did not say why." if ran["is_error"] && nothing?(content)
    block = { "type" => "tool_result", "tool_use_id" => call["id"] }
    block["content"] = content unless nothing?(content)
    block["is_error"] = true if ran["is_error"]
    block
  end

  def nothing?(content) = content.is_a?(Array) ? content.empty? : content.strip.empty?
  def not_run(call) = { "content" => "#{call['name']} was not run to its end.", "is_error" => true }

  # A history that the API takes back: the turn's calls are answered, and those of the provider's own tools left out
  # where nobody answered them.
  def settled(messages, start)
    done = messages.flat_map { |message| of(message) }.filter_map { |block| block["tool_use_id"] }
    missing = messages.drop(start).flat_map { |message| of(message) }
                      .select { |block| call?(block) && !done.include?(block["id"]) }
    kept = messages.filter_map { |message| without_open(message, done) }
    return kept if missing.empty?

    kept << { "role" => "user", "content" => missing.map { |call| answer(call, not_run(call)) } }
  end

  def without_open(message, done)
    open = ->(block) { %w[server_tool_use mcp_tool_use].include?(block["type"]) && !done.include?(block["id"]) }
    return message if message["role"] == "user" || of(message).none?(&open)

    left = of(message).reject(&open)
    { **message, "content" => left } unless left.all? { |block| thought?(block) }
  end
end
