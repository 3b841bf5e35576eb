"""What importing costs: the package, the plugin, and what is behind them once it is used."""

from __future__ import annotations

from _measure import compare, environment, python, report

if __name__ == "__main__":
    env = environment()
    report(
        compare(
            {
                "python -c pass": python("pass", env),
                "import harness": python("import harness", env),
                "from harness import Turn": python("from harness import Turn", env),
                "import pytest": python("import pytest", env),
                "import pytest, harness.plugin": python("import pytest, loop_harness.plugin", env),
                "import harness.provider.server": python("import harness.provider.server", env),
                "import harness.runner": python("import harness.runner", env),
                "import anthropic": python("import anthropic", env),
                "loop-harness --help": python(
                    "import sys; from loop_harness.cli import main; sys.argv = ['x', '--help']; main()", env
                ),
            }
        )
    )
