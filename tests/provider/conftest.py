from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.provider.serve import Served


@pytest.fixture
def served() -> Iterator[Served]:
    """A provider that listens."""
    served = Served()
    yield served
    served.close()
