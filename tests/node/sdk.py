"""The TypeScript SDK, installed where a test can use it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SDK = "@anthropic-ai/sdk@1.14.0"


def installed(where: Path) -> Path:
    """The folder whose `node_modules` has it: `HARNESS_NODE_SDK`, else `where`. Skips where that fails."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are not installed")
    kept = os.environ.get("HARNESS_NODE_SDK")
    home = Path(kept) if kept else where
    if not (home / "node_modules" / "@anthropic-ai").is_dir():
        try:
            command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(home), SDK]
            done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=50, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not install {SDK} in time")
        if done.returncode:
            pytest.skip(f"npm cannot install {SDK}: {done.stderr.strip().splitlines()[-1:]}")
    return home
