# The wrong twin of `loop.rb`, as it is often written: a tool that fails is left out, and its call without a result.
require_relative "loop"

class Loop
  private

  def result(call)
    ran = @agent.tool(call["name"], call["input"])
    Blocks.answer(call, ran) unless ran["is_error"]
  end
end
