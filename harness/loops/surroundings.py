"""The environment of a process under test: it finds the provider, and nothing of its owner's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .. import census
from .borrowed import environment
from .lookups import allowed_hosts

HARNESS_URL = "HARNESS_URL"
_CREDENTIAL = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)", re.IGNORECASE)
_PROVIDERS = ("ANTHROPIC_", "CLAUDE_", "AWS_", "OPENAI_", "GOOGLE_", "AZURE_")
"""What would make a client ask somebody else, or as somebody else."""


def surroundings(
    inherited: Mapping[str, str],
    *,
    base_url: str,
    api_key: str,
    harness_url: str = "",
    mark: str = "",
    proxy: str = "",
) -> dict[str, str]:
    """The variables of a process under test. What it asks for elsewhere goes to `proxy`."""
    kept = {name: value for name, value in inherited.items() if not _is_owners(name)}
    ours: dict[str, str | None] = {
        **environment(base_url, api_key),
        HARNESS_URL: harness_url or None,
        census.MARK: mark or None,
        "PYTHONUNBUFFERED": "1",
    }
    if proxy:
        local = ",".join(("127.0.0.1", "localhost", "::1", *allowed_hosts(inherited)))
        ours |= dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"), proxy)
        # Node asks no proxy unless it is told to.
        ours |= {"NO_PROXY": local, "no_proxy": local, "NODE_USE_ENV_PROXY": "1"}
    values = {**kept, **ours}
    return {name: value for name, value in values.items() if value is not None}


def _is_owners(name: str) -> bool:
    """Whether a variable holds a credential, or tells a client where else to go."""
    return bool(_CREDENTIAL.search(name)) or name.upper().startswith(_PROVIDERS)
