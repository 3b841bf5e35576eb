"""Processes that play a turn, most of them badly: `python processes.py NAME`. The standard library only."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit


def turn():
    return json.loads(sys.stdin.readline())


def ask(told, **more):
    """One request; the reply."""
    place = urlsplit(told["base_url"])
    body = {name: told[name] for name in ("model", "max_tokens", "system", "messages")}
    connection = http.client.HTTPConnection(place.netloc)
    headers = {"x-api-key": told["api_key"], "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    connection.request("POST", place.path + "/v1/messages", json.dumps(body | more), headers)
    reply = json.loads(connection.getresponse().read())
    connection.close()
    return reply


def hook(told, method, path, value=None):
    place = urlsplit(told["harness_url"])
    connection = http.client.HTTPConnection(place.netloc)
    connection.request(method, place.path + path, None if value is None else json.dumps(value))
    response = connection.getresponse()
    said = response.status, json.loads(response.read())
    connection.close()
    return said


def text(reply):
    return "".join(block.get("text", "") for block in reply.get("content", []))


def tell(value):
    print(json.dumps({"outcome": value}), flush=True)


def good():
    told = turn()
    print("a line of log", flush=True)
    tell({"status": "completed", "shown": [text(ask(told))]})
    print("another", file=sys.stderr)


def posts():
    told = turn()
    hook(told, "POST", "/outcome", {"status": "completed", "shown": [text(ask(told))], "carry": 7})


def carries():
    told = turn()
    ask(told)
    tell({"carry": (told["carry"] or 0) + 1, "detail": str(told["carry"])})


def surroundings():
    turn()
    here = Path.cwd()
    tell(
        {
            "detail": json.dumps(
                {"cwd": str(here), "env": dict(os.environ), "files": [*map(str, here.iterdir())]}
            )
        }
    )


def says_nothing():
    ask(turn())


def does_nothing():
    turn()


def exits_3():
    ask(turn())
    print("no such luck", file=sys.stderr)
    sys.exit(3)


def exits_10():
    turn()
    print("there is no streaming here", file=sys.stderr)
    sys.exit(10)


def dies():
    ask(turn())
    os.kill(os.getpid(), signal.SIGKILL)


def malformed():
    ask(turn())
    tell({"statos": "completed"})


def posts_malformed():
    told = turn()
    ask(told)
    sys.exit(0 if hook(told, "POST", "/outcome", {"status": "done"})[0] == 400 else 1)


def tells_over_lines():
    print(json.dumps({"outcome": {"shown": [text(ask(turn()))]}}, indent=2))


def tells_half():
    ask(turn())
    sys.stdout.write('{"outcome": {"shown": ["Hel')


def nests():
    ask(turn())
    print('{"outcome": {"carry": ' + "[" * 100_000 + "]" * 100_000 + "}}")


def lingers():
    told = turn()
    hook(told, "POST", "/outcome", {"shown": [text(ask(told))]})
    time.sleep(1000)


def ignores_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ask(turn())
    time.sleep(1000)


def cleans_up_when_interrupted():
    told = turn()
    try:
        ask(told)
        time.sleep(1000)
    except KeyboardInterrupt:
        tell({"status": "cancelled"})


def forks_a_daemon():
    told = turn()
    subprocess.Popen(["sleep", "10000"], start_new_session=True)
    tell({"shown": [text(ask(told))]})


def forks_all_the_time():
    """Wherever one looks it is gone: each of its processes lives for some milliseconds."""
    told = turn()
    if os.fork() == 0:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if os.fork():
                os._exit(0)
            time.sleep(0.002)
        os._exit(0)
    tell({"shown": [text(ask(told))], "detail": str(os.getpid())})


def floods():
    turn()
    block = b"x" * 63 + b"\n"
    for _ in range(1024):
        sys.stdout.buffer.write(block * 16384)
    sys.stdout.flush()


def floods_one_line():
    told = turn()
    for _ in range(64):
        sys.stdout.buffer.write(b"y" * 2**20)
    print(flush=True)
    tell({"shown": [text(ask(told))]})


def invalid_utf8():
    told = turn()
    sys.stdout.buffer.write(b"\xff\xfe log\n")
    sys.stdout.flush()
    said = json.dumps({"outcome": {"shown": [text(ask(told)), "\0"]}}).replace("\\u0000", "@").encode()
    sys.stdout.buffer.write(said.replace(b"@", b"\xc3\x28") + b"\n")


def half_a_request(told, body, length):
    place = urlsplit(told["base_url"])
    raw = socket.create_connection((place.hostname, place.port))
    lines = [
        f"POST {place.path}/v1/messages HTTP/1.1",
        f"host: {place.netloc}",
        f"x-api-key: {told['api_key']}",
    ]
    lines += ["anthropic-version: 2023-06-01", "content-type: application/json", f"content-length: {length}"]
    raw.sendall("\r\n".join([*lines, "", body]).encode())


def leaves_within_the_request():
    half_a_request(turn(), "{", 100_000)


def leaves_within_the_answer():
    told = turn()
    body = json.dumps({name: told[name] for name in ("model", "max_tokens", "system", "messages")})
    half_a_request(told, body, len(body))


def opens_1000_connections():
    told = turn()
    place = urlsplit(told["base_url"])
    held = [socket.create_connection((place.hostname, place.port)) for _ in range(1000)]
    tell({"shown": [text(ask(told))]})
    assert held


def leaves_a_file():
    told = turn()
    Path(os.environ["TMPDIR"], "left").write_text("x")
    tell({"shown": [text(ask(told))]})


def hangs_in_a_tool():
    told = turn()
    tools = [{k: tool[k] for k in ("name", "description", "input_schema")} for tool in told["tools"]]
    call = next(b for b in ask(told, tools=tools)["content"] if b["type"] == "tool_use")
    hook(told, "POST", f"/tools/{call['name']}", call["input"])


def asks_elsewhere():
    told = turn()
    try:
        urllib.request.urlopen("https://api.anthropic.com/v1/messages", b"{}", timeout=5)
    except OSError as error:
        tell({"shown": [text(ask(told))], "detail": str(error)})


def asks_only_elsewhere():
    turn()
    try:
        urllib.request.urlopen("https://api.anthropic.com/v1/messages", b"{}", timeout=5)
    except OSError:
        tell({"status": "failed"})


def wants_to_install():
    try:
        urllib.request.urlopen("https://registry.npmjs.org/tsx", timeout=5)
    except OSError:
        sys.exit("403 Forbidden - GET https://registry.npmjs.org/tsx")


def asks(path, headers, **body):
    told = turn()
    place = urlsplit(told["base_url"])
    connection = http.client.HTTPConnection(place.netloc)
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", **headers}
    connection.request("POST", path, json.dumps(body), headers)
    tell({"status": "failed", "detail": connection.getresponse().read().decode()})
    connection.close()


def asks_at_a_wrong_path():
    asks("/w0/v1/chat/completions", {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})


def asks_without_a_key():
    asks("/w0/v1/messages", {})


def asks_as_nobody():
    asks("/v1/messages", {"x-api-key": "sk-ant-of-somebody"})


def asks_for_too_little():
    asks("/w0/v1/messages", {"x-api-key": os.environ["ANTHROPIC_API_KEY"]}, model="claude-opus-4-6")


def shows_something_else():
    ask(turn())
    tell("I do not know.")


def does_not_return():
    ask(turn())
    time.sleep(1000)


def asks_nobody():
    turn()
    tell("Hello from the probe.")


def stays():
    """Kept alive; what it is told in a prompt, it does."""
    print(json.dumps({"hello": {"protocol": 1, "declaration": {"caps": {"iterations": 9}}}}), flush=True)
    for count, line in enumerate(sys.stdin, start=1):
        said = json.loads(line)
        if "bye" in said:
            return
        told = said["run"]
        if told["prompt"] == "die":
            sys.exit(1)
        if told["prompt"] == "hang":
            time.sleep(1000)
        told_as = json.dumps({"outcome": {"detail": f"{count} {os.getpid()}", "shown": [text(ask(told))]}})
        # In one piece: `print` may write the last line end by itself, and the turn would be over before it.
        sys.stdout.write(f"{told_as}\n" * (1 + (told["prompt"] == "tell twice")))
        sys.stdout.flush()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
