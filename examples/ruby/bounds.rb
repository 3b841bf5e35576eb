# What ends a turn from without: somebody cancels it, or it has used up what it may.
require_relative "decide"

class Bounds
  attr_reader :requests

  def initialize(agent, limits)
    @agent, @limits = agent, limits
    @until = now + (limits["wall_clock"] || 600)
    @requests, @pauses = 0, 0
  end

  def count_request = @requests += 1
  def count_pause = @pauses += 1
  def forget_pauses = @pauses = 0

  def left = @until - now

  # How the turn is to end now, or nil.
  def must_stop
    return End.new("cancelled") if @agent.cancelled?
    return End.capped("#{@requests} requests were made") if @requests >= (@limits["max_iterations"] || 50)
    return End.capped("it paused too often") if @pauses > (@limits["pauses"] || 20)

    End.capped("the time is up") if left <= 0
  end

  # What the block returns; nothing where the turn is to stop before it does.
  def watched(&block)
    worker = Thread.new(&block)
    worker.report_on_exception = false
    worker.join(0.02) || ((@agent.cancelled? || left <= 0) && break) until !worker.alive?
    worker.alive? ? (worker.kill && nil) : worker.value
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
