"""What a client sends to a service: a request with the prompt in it, made so that it arrives unharmed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

from .driver import DriverError
from .resolve import nearest

NAMES = ("prompt", "conversation", "stream")
"""What may stand in braces: what the user says, an id of the conversation, and `true` or `false`."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_BRACED = re.compile(r"\{(\w+)\}")
JSON, FORM, TEXT = "application/json", "application/x-www-form-urlencoded", "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Sent:
    """One request as it goes out."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None


@dataclass(frozen=True)
class Template:
    """A request with names in braces."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Any
    """A JSON value, or a text."""
    kind: str
    """The content type; empty where there is no body."""

    @property
    def names(self) -> set[str]:
        """What stands in braces."""
        written = [self.url, *self.headers.values(), *_texts(self.body)]
        return {name for text in written for name in _BRACED.findall(text)}

    def fill(self, values: Mapping[str, str]) -> Sent:
        """The request with `values` in place of their names, each written as its place asks for."""
        headers = {name: _filled(text, values, _plain) for name, text in self.headers.items()}
        if self.kind and not any(name.lower() == "content-type" for name in headers):
            headers["content-type"] = self.kind
        url = _filled(self.url, values, lambda value: quote(value, safe=""))
        return Sent(self.method, url, headers, self._content(values))

    def _content(self, values: Mapping[str, str]) -> bytes | None:
        if not self.kind:
            return None
        if self.kind == JSON:
            return json.dumps(_in_json(self.body, values), ensure_ascii=False).encode("utf-8", "replace")
        written = quote_plus if self.kind == FORM else _plain
        return _filled(self.body, values, written).encode("utf-8", "replace")


def parse_template(where: str, body: str | None, headers: Sequence[str] = ()) -> Template:
    """The template of `METHOD URL` and a body. Raises `DriverError` for what cannot be meant."""
    method, url = _where(where)
    given = dict(map(_header, headers))
    value, kind = _body(body)
    template = Template(method, url, given, value, kind)
    unknown = sorted(name for name in template.names if name not in NAMES and nearest(name, NAMES))
    if unknown:
        near = nearest(unknown[0], NAMES)
        raise DriverError(f"there is no {{{unknown[0]}}}{near} (one of {', '.join(NAMES)}, in braces)")
    if "prompt" not in template.names:
        hint = """'{"message": "{prompt}"}'"""
        raise DriverError(f"nothing says where the prompt goes: write {{prompt}} in --body, such as {hint}")
    return template


def _where(written: str) -> tuple[str, str]:
    words = written.split()
    method, url = words if len(words) == 2 else ("POST", written.strip())
    if method.upper() not in METHODS:
        raise DriverError(f"{method!r} is no method{nearest(method.upper(), METHODS)}: write 'POST http://…'")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise DriverError(f"{url!r} is no address: write 'POST http://127.0.0.1:3000/api/chat'")
    try:
        _ = parts.port
    except ValueError:
        raise DriverError(f"{url!r} has a port that cannot be: write 'POST http://127.0.0.1:3000'") from None
    return method.upper(), url


def _header(written: str) -> tuple[str, str]:
    name, colon, value = written.partition(":")
    if not colon or not name.strip():
        raise DriverError(f"header {written!r}: write 'NAME: VALUE'")
    return name.strip(), value.strip()


def _body(written: str | None) -> tuple[Any, str]:
    if written is None:
        return "", ""
    if written.lstrip()[:1] in ("{", "[") and not _BRACED.fullmatch(written.strip()):
        try:
            return json.loads(written), JSON
        except ValueError as error:
            raise DriverError(f"the body begins like JSON and is none: {error}") from None
    return written, FORM if re.match(r"[\w.\[\]-]+=", written) else TEXT


def _texts(body: Any) -> list[str]:
    if isinstance(body, dict):
        return [text for value in body.values() for text in _texts(value)]
    if isinstance(body, list):
        return [text for value in body for text in _texts(value)]
    return [body] if isinstance(body, str) else []


def _in_json(body: Any, values: Mapping[str, str]) -> Any:
    if isinstance(body, dict):
        return {name: _in_json(value, values) for name, value in body.items()}
    if isinstance(body, list):
        return [_in_json(value, values) for value in body]
    if body == "{stream}":
        return values.get("stream") == "true"
    return _filled(body, values, _plain) if isinstance(body, str) else body


def _filled(text: str, values: Mapping[str, str], written: Callable[[str], str]) -> str:
    """In one pass, so that a prompt with braces in it stays what it is."""
    return _BRACED.sub(lambda found: written(values[found[1]]) if found[1] in values else found[0], text)


def _plain(value: str) -> str:
    return value
