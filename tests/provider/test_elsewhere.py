"""The dead end: who takes the provider for a proxy is refused, and whom it asked for is noted."""

from __future__ import annotations

import socket
import ssl
import urllib.error
import urllib.request

import pytest

from harness.fake import KEY, FakeProvider
from harness.history import Noted

HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}


@pytest.fixture
def provider():
    fake = FakeProvider.start()
    yield fake
    fake.close()


def proxied(provider: FakeProvider, url: str, worker: str = "w0") -> str:
    proxy = provider._provider.proxy(worker)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
    try:
        asked = urllib.request.Request(url, headers=HEADERS)
        with opener.open(asked, timeout=10) as response:
            return str(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code} {error.read().decode()}"
    except (urllib.error.URLError, ssl.SSLError) as error:
        return str(error)


def noted(provider: FakeProvider) -> list[str]:
    return [event.detail for event in provider.events if isinstance(event, Noted)]


def test_a_tunnel_is_refused_and_its_end_is_noted_once(provider):
    for _ in range(2):
        assert "403" in proxied(provider, "https://api.anthropic.com/v1/messages")
    assert noted(provider) == ["api.anthropic.com:443"]


def test_a_plain_request_for_another_host_is_refused_and_noted(provider):
    said = proxied(provider, "http://example.com/path")
    assert said.startswith("403")
    assert "example.com was not asked" in said
    assert noted(provider) == ["example.com"]


def test_a_client_that_asks_a_proxy_for_everything_reaches_the_api(provider):
    assert proxied(provider, f"{provider.url}/v1/models") == "200"
    assert noted(provider) == []


def test_without_credentials_it_is_the_only_session_there_is(provider):
    host, port = provider._provider.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        raw.sendall(b"CONNECT api.example:443 HTTP/1.1\r\nhost: api.example:443\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 403")
    assert noted(provider) == ["api.example:443"]


def test_a_message_that_is_on_its_way_to_another_host_is_told_as_such(provider):
    proxied(provider, "http://gateway.example/v1/messages")
    assert noted(provider) == ["gateway.example", "GET /v1/messages was asked of gateway.example"]
