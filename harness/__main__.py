"""`python -m harness` is the command `loop-harness`; nothing else imports this."""

from __future__ import annotations

from .signals import quietly

quietly()  # before anything is imported that takes its time


def main() -> int:
    """Run the command line; returns the exit code."""
    from .cli import main as command

    return command()


if __name__ == "__main__":
    import sys

    sys.exit(main())
