# An agent's turn on the Messages API, with the standard library alone: ask, do what the reply calls for, ask again.
require_relative "blocks"
require_relative "bounds"
require_relative "client"
require_relative "decide"

class Loop
  TOKENS = %w[input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens].freeze

  # agent: answers to cancelled?, tool?(name), tool(name, input), report(text), count(totals), over
  def initialize(agent, client, request, limits)
    @agent, @client, @request = agent, client, request
    @bounds = Bounds.new(agent, limits)
    @messages, @start = request["messages"].dup, request["messages"].size
    @shown, @usage = [], Hash.new(0)
  end

  # What the caller gets, whatever happens.
  def run
    ending = play
    problem = ending.note unless ending.status == "refused"
    @shown << { content: ending.note, is_error: !problem.nil? } if ending.note
    @agent.report(problem) if problem
    @agent.count({ iterations: @bounds.requests, **@usage.transform_keys(&:to_sym) })
    @agent.over
    { status: ending.status, shown: @shown, history: Blocks.settled(@messages, @start), usage: @usage }
  end

  private

  def play
    ending = nil
    ending = @bounds.must_stop || step until ending
    @agent.cancelled? ? End.new("cancelled") : ending
  rescue StandardError => error
    End.failed(error.message)
  end

  # One request, and what follows from its reply: how the turn ends, or nil.
  def step
    reply = @client.ask({ **@request, "messages" => @messages }, @bounds)
    return reply if reply.is_a?(End)

    @bounds.count_request
    TOKENS.each { |name| @usage[name] += reply.dig("usage", name) || 0 }
    @request["container"] = reply["container"]["id"] if reply["container"]
    apply(decide(reply))
  end

  def apply(decision)
    @shown << decision.text if decision.text.to_s != ""
    @messages = @messages.first(@start - 1) if decision.forget
    say("assistant", decision.said)
    @bounds.count_pause if decision.paused
    @bounds.forget_pauses if decision.calls
    say("user", decision.calls&.filter_map { |call| result(call) })
    decision.over
  end

  def say(role, content) = content&.any? && @messages << { "role" => role, "content" => content }
  def result(call) = Blocks.answer(call, @bounds.must_stop ? Blocks.not_run(call) : run_tool(call))

  def run_tool(call)
    return { "content" => "There is no tool #{call['name']}.", "is_error" => true } unless @agent.tool?(call["name"])

    @bounds.watched { @agent.tool(call["name"], call["input"]) } || Blocks.not_run(call)
  rescue StandardError => error
    { "content" => "#{call['name']} failed: #{error.message}", "is_error" => true }
  end
end
