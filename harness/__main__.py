"""`python -m harness` is the command `loop-harness`."""

from __future__ import annotations

import sys

from .cli import main

sys.exit(main())
