# Plays one turn of the loop for loop-harness, which starts this file anew for each:
#     loop-harness run --command 'ruby examples/ruby/conformance.rb'
require "json"
require "net/http"
require_relative ARGV.fetch(0, "loop.rb")

# What the loop needs of its surroundings, as the harness has it.
class Agent
  def initialize(turn)
    @turn = turn
    @url = URI(turn["harness_url"])
    %w[INT TERM].each { |signal| trap(signal) { @told = true } }
  end

  def cancelled? = @told || hook("GET", "/cancelled")["cancelled"]
  def tool?(name) = @turn["tools"].any? { |tool| tool["name"] == name }
  def tool(name, input) = hook("POST", "/tools/#{name}", input)
  def report(problem) = tell("POST", "/report", { problem: })
  def count(totals) = tell("POST", "/usage", totals)
  def over = tell("DELETE", "/store/#{@turn['cancel_key']}")

  private

  def hook(method, path, value = nil)
    answer = Net::HTTP.start(@url.host, @url.port) do |http|
      http.read_timeout = nil
      http.send_request(method, @url.path + path, value && JSON.generate(value), { "content-type" => "application/json" })
    end
    raise answer.body unless answer.code == "200"

    JSON.parse(answer.body)
  end

  # What tells the owner something must not bring the turn down.
  def tell(...)
    hook(...)
  rescue StandardError => error
    warn(error.message)
  end
end

turn = JSON.parse($stdin.read)
request = turn.slice("model", "max_tokens", "system", "messages", "tools")
client = Client.new(turn["base_url"], turn["api_key"])
outcome = Loop.new(Agent.new(turn), client, request, turn["limits"]).run
puts JSON.generate({ outcome: })
