# One request to the Messages API and its reply, tried again where that can help and there is time.
require "json"
require "net/http"

class Client
  RETRIES = 2
  RETRYABLE = [408, 409, 429].freeze
  NETWORK = [JSON::ParserError, IOError, SystemCallError, Net::HTTPBadResponse, Net::ReadTimeout].freeze
  Answer = Struct.new(:reply, :problem, :again, :wait)

  def initialize(url, key)
    @url, @key = URI("#{url}/v1/messages"), key
  end

  # The reply, or how the turn ends before there is one. Raises where there is none to be had.
  # turn: answers to must_stop, left, and watched, which gives up on its block when the turn is to stop.
  def ask(body, turn)
    (0..RETRIES).each do |attempt|
      answer = turn.watched { post(body, attempt) }
      return answer.reply if answer&.reply

      ending = turn.must_stop
      return ending if ending

      wait = answer.wait || 0.5 * 2**attempt
      raise answer.problem if !answer.again || attempt == RETRIES || wait >= turn.left

      turn.watched { sleep wait }
      ending = turn.must_stop
      return ending if ending
    end
  end

  private

  def post(body, attempt)
    headers = { "x-api-key" => @key, "anthropic-version" => "2023-06-01", "content-type" => "application/json",
                "x-stainless-retry-count" => attempt.to_s }
    http = Net::HTTP.new(@url.host, @url.port)
    http.max_retries = 0
    response = http.start { |line| line.post(@url.path, JSON.generate(body), headers) }
    return refused(response) unless response.code == "200"

    reply = JSON.parse(response.body)
    reply["type"] == "message" ? Answer.new(reply) : Answer.new(nil, "no message came", true)
  rescue *NETWORK => error
    Answer.new(nil, error.message, true)
  end

  def refused(response)
    status, advice = response.code.to_i, response["x-should-retry"]
    again = advice ? advice == "true" : status >= 500 || RETRYABLE.include?(status)
    wait = response["retry-after-ms"]&.to_f&./(1000) || response["retry-after"]&.to_f
    Answer.new(nil, "#{status} #{response.body}", again, wait)
  end
end
