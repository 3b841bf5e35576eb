"""What docs/services.md says is so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.attached import KNOWN_BY
from harness.commands.services import PORT
from harness.control import ROUTES
from harness.loops.reading import KINDS
from harness.loops.template import NAMES
from tests.commanding import serving, start

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "services.md").read_text(encoding="utf-8")
PLAYING = """
play_the_turn() {
    turn=$(cat)
    printf '%s' "$turn" | jq '{model, max_tokens, system, messages}' |
        curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $(printf '%s' "$turn" | jq -r .api_key)" \
            -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' -d @- |
        jq -c '{shown: [.content[] | .text // empty]}'
}
"""


def test_everything_is_on_the_page() -> None:
    for name in NAMES:
        assert f"| `{{{name}}}` |" in PAGE
    for kind in KINDS:
        assert f"| `{kind}" in PAGE
    for known_by in KNOWN_BY:
        assert f"| `{known_by}` |" in PAGE
    for route in ROUTES:
        assert f"| `{route}` |" in PAGE
    assert f"127.0.0.1:{PORT}/w0" in PAGE


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("jq") and shutil.which("curl")), reason="it is made of curl and jq")
def test_the_wrapper_on_the_page_has_a_case_judged(tmp_path: Path) -> None:
    [script] = re.findall(r"```sh\n([\s\S]*?)```", PAGE)
    process = start("serve", "--control")
    try:
        url, _ = serving(process)
        assert process.stdout is not None
        name, _, control = process.stdout.readline().strip().partition("=")
        env = {**os.environ, "ANTHROPIC_BASE_URL": url, name: control, "NO_PROXY": "*"}
        run = subprocess.run(
            ["sh", "-euc", PLAYING + script], env=env, capture_output=True, text=True, timeout=30, check=False
        )
    finally:
        process.terminate()
        process.communicate(timeout=20)

    assert (run.returncode, run.stderr, run.stdout.strip()) == (0, "", "pass")
