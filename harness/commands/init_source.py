"""Where this loop-harness was installed from: what a job elsewhere has to install, to have the same one."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

from .. import __version__

DISTRIBUTION = "loop-harness"
WHEEL = f".wheels/loop_harness-{__version__}-py3-none-any.whl"
"""Where a job finds what it cannot get from anywhere else: a wheel that is kept in the repository.

The folder begins with a dot: setuptools takes any other beside a package for another, and builds neither.
"""


def installed_from() -> str | None:
    """What the installer wrote down (https://packaging.python.org/specifications/direct-url/), if it did.

    An empty text where nothing had to be written down: an index was asked by name. None where nobody knows.
    """
    try:
        return distribution(DISTRIBUTION).read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return None


def source(written: str | None) -> str:
    """What pip installs elsewhere: an address or a name that gets the same, or else the wheel."""
    if written is None:
        return WHEEL
    if not written:
        return f"{DISTRIBUTION}=={__version__}"
    told = json.loads(written)
    address = urlsplit(told["url"])
    if address.scheme not in ("http", "https", "ssh"):
        return WHEEL
    # Whatever stands before the host may be a password.
    url = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
    vcs = told.get("vcs_info")
    return f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else url


def checkout(written: str | None) -> str:
    """The folder or the wheel that it was installed from, or a word for it."""
    address = urlsplit(json.loads(written)["url"]) if written else None
    return unquote(address.path) if address and address.scheme == "file" else "CHECKOUT"
