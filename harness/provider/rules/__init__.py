"""What the API rejects, with its status, type and text: one module a topic, in the order of `table`."""

from __future__ import annotations

from .binding import prefix_of, transformations
from .table import RULES, examine
from .types import Finding

__all__ = ["RULES", "Finding", "examine", "prefix_of", "transformations"]
