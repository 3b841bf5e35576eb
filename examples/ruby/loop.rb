# An agent's turn on the Messages API, with the standard library alone. The stop reason decides.
require "json"
require "net/http"

class Loop
  TOKENS = %w[input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens].freeze
  End = Struct.new(:status, :note)

  # agent: answers to cancelled?, tool(name, input), report(text), count(totals), over
  def initialize(agent, url, key, request, limits)
    @agent, @url, @key, @request, @limits = agent, URI("#{url}/v1/messages"), key, request, limits
    @until = now + (limits["wall_clock"] || 600)
    @messages, @start = request["messages"].dup, request["messages"].size
    @shown, @usage, @iterations, @pauses = [], Hash.new(0), 0, 0
  end

  def run
    ending = nil
    ending = must_stop || step until ending
    ending = End.new("cancelled") if @agent.cancelled?
  rescue StandardError => error
    ending = End.new("failed", "The answer could not be completed: #{error.message}")
  ensure
    settle
    @shown << { content: ending.note, is_error: ending.status != "refused" } if ending.note
    @agent.report(ending.note) if ending.note && ending.status != "refused"
    @agent.count({ iterations: @iterations, **@usage.transform_keys(&:to_sym) })
    @agent.over
    return { status: ending.status, shown: @shown, history: @messages, usage: @usage }
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def left = @until - now

  def must_stop
    return End.new("cancelled") if @agent.cancelled?
    return End.new("capped", "Stopped after #{@iterations} requests.") if @iterations >= (@limits["max_iterations"] || 50)

    End.new("capped", "Stopped: the time is up.") if left <= 0
  end

  # One request, and what follows from its reply: how the turn ends, or nil.
  def step
    reply = ask
    return reply if reply.is_a?(End)

    @iterations += 1
    @request["container"] = reply["container"]["id"] if reply["container"]
    said = reply["content"].reject { |block| blank?(block) }
    calls = said.select { |block| block["type"] == "tool_use" }
    show(said) unless reply["stop_reason"] == "refusal"
    case reply["stop_reason"]
    when "pause_turn", "compaction"
      keep(said)
      @pauses += 1 if reply["stop_reason"] == "pause_turn"
      End.new("capped", "Stopped: it paused too often.") if @pauses > (@limits["pauses"] || 20)
    when "tool_use"
      keep(said)
      return End.new("failed", "It stopped for a tool and called none.") if calls.empty?

      @pauses = 0
      @messages << { "role" => "user", "content" => calls.filter_map { |call| result(call, must_stop ? nil : run_tool(call)) } }
      nil
    when "refusal"
      @messages = @messages.first(@start - 1)
      End.new("refused", "The model declined to answer this request.")
    when "max_tokens", "model_context_window_exceeded"
      keep_last(said - calls)
      End.new("truncated", "The answer is incomplete: the model reached a limit.")
    when "end_turn", "stop_sequence"
      keep_last(said)
      said.any? && said.all? { |block| thought?(block) } ? End.new("failed", "The model said nothing.") : End.new("completed")
    else
      keep_last(said)
      End.new("failed", "Unknown stop reason: #{reply['stop_reason']}.")
    end
  end

  # The reply, tried for again where that can help and there is time; or the end of the turn.
  def ask
    3.times do |attempt|
      answer = watched { post(attempt) }
      return answer if answer.is_a?(Hash) && answer["type"] == "message"

      status, text, headers = answer.is_a?(Array) ? answer : [0, "no message came", {}]
      advice = headers["x-should-retry"]
      again = advice ? advice == "true" : status.zero? || status >= 500 || [408, 409, 429].include?(status)
      wait = headers["retry-after-ms"]&.to_f&./(1000) || headers["retry-after"]&.to_f || 0.5 * 2**attempt
      ending = must_stop
      return ending if ending
      raise text if !again || attempt == 2 || wait >= left

      watched { sleep wait }
      ending = must_stop
      return ending if ending
    end
  end

  def post(attempt)
    headers = { "x-api-key" => @key, "anthropic-version" => "2023-06-01", "content-type" => "application/json",
                "x-stainless-retry-count" => attempt.to_s }
    http = Net::HTTP.new(@url.host, @url.port)
    http.max_retries = 0
    response = http.start { |line| line.post(@url.path, JSON.generate(@request.merge("messages" => @messages)), headers) }
    return [response.code.to_i, "#{response.code} #{response.body}", response] unless response.code == "200"

    reply = JSON.parse(response.body)
    TOKENS.each { |name| @usage[name] += reply.dig("usage", name) || 0 }
    reply
  rescue JSON::ParserError, IOError, SystemCallError, Net::HTTPBadResponse, Net::ReadTimeout => error
    [0, error.message, {}]
  end

  # What the block returns; nothing where the turn is to stop before it does.
  def watched(&block)
    worker = Thread.new(&block)
    worker.report_on_exception = false
    worker.join(0.02) || ((@agent.cancelled? || left <= 0) && break) until !worker.alive?
    worker.alive? ? (worker.kill && nil) : worker.value
  end

  def run_tool(call)
    return { "content" => "There is no tool #{call['name']}.", "is_error" => true } unless @agent.tool?(call["name"])

    watched { @agent.tool(call["name"], call["input"]) }
  rescue StandardError => error
    { "content" => "#{call['name']} failed: #{error.message}", "is_error" => true }
  end

  # The block that answers a call. Blank text is not taken; an error says at least that it is one.
  def result(call, ran)
    ran ||= { "content" => "#{call['name']} was not run to its end.", "is_error" => true }
    content = ran["content"]
    content = content.is_a?(Array) ? content.reject { |block| blank?(block) } : (content if content.to_s.strip != "")
    content = nil if content == []
    content ||= "The tool failed, and did not say why." if ran["is_error"]
    block = { "type" => "tool_result", "tool_use_id" => call["id"] }
    block["content"] = content if content
    block["is_error"] = true if ran["is_error"]
    block
  end

  def blank?(block) = block["type"] == "text" && block["text"].strip.empty?
  def thought?(block) = block["type"].end_with?("thinking")
  def keep(content) = content.any? && @messages << { "role" => "assistant", "content" => content }
  def keep_last(content) = content.all? { |block| thought?(block) } || keep(content)
  def blocks(message) = message["content"].is_a?(Array) ? message["content"] : []

  # Neighbouring texts are one, cut where citations begin and end.
  def show(content)
    parts = content.chunk_while { |one, two| one["type"] == "text" && two["type"] == "text" }
    text = parts.map { |part| part.map { |block| block["type"] == "text" ? block["text"] : "" }.join }
    @shown << text.reject { |one| one.strip.empty? }.join("\n\n") if text.any? { |one| !one.strip.empty? }
  end

  # A history that the API takes back: calls are answered, and those of the provider's own tools left out if open.
  def settle
    done = @messages.flat_map { |message| blocks(message) }.filter_map { |block| block["tool_use_id"] }
    open = ->(block) { %w[server_tool_use mcp_tool_use].include?(block["type"]) && !done.include?(block["id"]) }
    missing = @messages.drop(@start).flat_map { |message| blocks(message) }
                       .select { |block| block["type"] == "tool_use" && !done.include?(block["id"]) }
    @messages = @messages.filter_map do |message|
      next message if message["role"] == "user" || blocks(message).none?(&open)

      left = blocks(message).reject(&open)
      left.all? { |block| thought?(block) } ? nil : { **message, "content" => left }
    end
    @messages << { "role" => "user", "content" => missing.map { |call| result(call, nil) } } if missing.any?
  end
end
