"""`python -m harness.profiles core`."""

import sys

from .make import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
