# The wrong twin of `loop.rb`, as it is often written: a tool that fails is left out, and its call without a result.
require_relative "loop"

class Loop
  private

  def run_tool(call)
    @agent.tool(call["name"], call["input"])
  end

  alias answered result

  def result(call, ran)
    ran && ran["is_error"] ? nil : answered(call, ran)
  end
end
