"""Root of the project's own tests: they use the plugin like any other repository does."""

from __future__ import annotations

pytest_plugins = ["pytester", "harness.plugin"]
