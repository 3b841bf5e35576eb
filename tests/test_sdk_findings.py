"""The page about the SDK's tool runner says what a run of it gives."""

from __future__ import annotations

from importlib import metadata

import pytest

from tests import sdk_findings


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(
    f"anthropic {metadata.version('anthropic')}." not in sdk_findings.PAGE.read_text(encoding="utf-8"),
    reason="the page is about another version of the SDK",
)
def test_the_page_about_the_tool_runner_is_what_a_run_gives() -> None:
    assert sdk_findings.PAGE.read_text(encoding="utf-8") == sdk_findings.page(sdk_findings.run())
