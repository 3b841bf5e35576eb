"""How fast the provider is, beside its peers and beside canned bytes, all in one run.

python bench/provider.py                    a minute or two; `--seconds 1` for a quick look
python bench/provider.py --memory 100000    the memory of `serve` over so many different requests, too

Clients and servers share the machine, so only ratios of one run mean anything. `cpu` is the time a server's
process used for one answer: what else the machine does changes it least. `different` are
plain replies to requests of which no two are the same; the others are one request sent again and again.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import servers
from client import request_of
from servers import BENCH, Server, free_port

TICK = 1 / os.sysconf("SC_CLK_TCK")
STARTS = 5


class Running:
    """A server that was started, and when it answered first."""

    def __init__(self, server: Server) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}{server.path}"
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `stop`
        began = time.perf_counter()
        self.process = subprocess.Popen(
            server.command(self.port), cwd=server.folder, stdout=self._out, stderr=subprocess.STDOUT
        )
        self.ready = self._wait(server, began)

    def _wait(self, server: Server, began: float) -> float:
        while time.perf_counter() - began < 30:
            if self.process.poll() is not None:
                break
            if self.answers():
                return time.perf_counter() - began
            time.sleep(0.002)
        self._out.seek(0)
        said = self._out.read().decode(errors="replace")[-2000:]
        self.stop()
        raise SystemExit(f"{server.name} does not answer:\n{said}")

    def answers(self, body: bytes | None = None) -> bool:
        """Whether a request is answered with 200."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        asked = body or request_of(self.url, stream=False).partition(b"\r\n\r\n")[2]
        headers = {"content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"}
        try:
            connection.request("POST", "/" + self.url.split("/", 3)[3], asked, headers)
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def cpu(self) -> float:
        """Seconds of processor time used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK

    def memory(self) -> float:
        """Megabytes held."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def stop(self) -> None:
        """End the process, which was started here."""
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._out.close()


def rate(server: Server, seconds: float, *flags: str) -> dict[str, float]:
    """Answers per second, and processor time for each."""
    running = Running(server)
    try:
        load(running.url, min(seconds, 1.0), *flags)  # what warms up is not measured
        before = running.cpu()
        found = load(running.url, seconds, *flags)
        found["cpu_us"] = round((running.cpu() - before) / max(found["answers"], 1) * 1e6, 1)
        return found
    finally:
        running.stop()


def load(url: str, seconds: float, *flags: str) -> dict[str, float]:
    """What the load client found."""
    command = [sys.executable, str(BENCH / "client.py"), url, "-d", str(seconds), *flags]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, float] = json.loads(said)
    return found


def cold_start(server: Server) -> dict[str, float]:
    """Seconds from the spawn to the first answer, and the memory held then."""
    starts, memory = [], 0.0
    for _ in range(STARTS):
        running = Running(server)
        starts.append(running.ready)
        memory = running.memory()
        running.stop()
    return {"cold_ms": round(statistics.median(starts) * 1000), "memory_mb": round(memory, 1)}


def growth(server: Server, requests: int) -> list[float]:
    """Megabytes held before, and after each tenth, of so many requests that all differ."""
    running = Running(server)
    held = [running.memory()]
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
    headers = {"content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"}
    path = "/" + running.url.split("/", 3)[3]
    for number in range(1, requests + 1):
        said = [{"role": "user", "content": f"bench {number} " + "word " * 40}]
        body = json.dumps({"model": "claude-opus-4-6", "max_tokens": 9, "messages": said})
        connection.request("POST", path, body, headers)
        connection.getresponse().read()
        if number % max(1, requests // 10) == 0:
            held.append(running.memory())
    connection.close()
    running.stop()
    return [round(each, 1) for each in held]


def measured(server: Server, seconds: float) -> dict[str, float]:
    """All figures of one server."""
    plain = rate(server, seconds)
    streamed = rate(server, seconds, "--stream")
    different = rate(server, seconds, "--differ")
    figures = {"plain": plain["per_second"], "plain_cpu_us": plain["cpu_us"]}
    figures |= {"different": different["per_second"], "different_cpu_us": different["cpu_us"]}
    figures |= {"streams": streamed["per_second"], "stream_cpu_us": streamed["cpu_us"]}
    figures |= {"events": streamed["events"], "errors": plain["errors"] + streamed["errors"]}
    return figures | cold_start(server)


COLUMNS = (
    ("plain", "plain/s"),
    ("plain_cpu_us", "cpu µs"),
    ("different", "different/s"),
    ("different_cpu_us", "cpu µs"),
    ("streams", "streams/s"),
    ("stream_cpu_us", "cpu µs"),
    ("events", "events"),
    ("cold_ms", "start ms"),
    ("memory_mb", "MB"),
    ("errors", "errors"),
)


def show(found: dict[str, dict[str, float]]) -> None:
    """The figures, and what they are of this project's."""
    print(f"{'':14}" + "".join(f"{title:>12}" for _, title in COLUMNS))
    for name, figures in found.items():
        print(f"{name:14}" + "".join(f"{figures[key]:>12g}" for key, _ in COLUMNS))
    own = found["loop-harness"]
    print("\nloop-harness is, beside")
    for name, figures in found.items():
        if name == "loop-harness":
            continue
        told = [f"plain {own['plain'] / figures['plain']:.2f}x"] if figures["plain"] else []
        told += [f"streams {own['streams'] / figures['streams']:.2f}x"] if figures["events"] else []
        told += [f"different {own['different'] / figures['different']:.2f}x"]
        told += [f"start {own['cold_ms'] / figures['cold_ms']:.2f}x the time"]
        print(f"  {name:12} " + ", ".join(told))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="of load for each figure")
    parser.add_argument("--memory", type=int, default=0, metavar="N", help="also the memory over N requests")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peers = {"aimock": servers.aimock(folder), "mocktopus": servers.mocktopus(folder)}
        for peer, server in peers.items():
            if server is None:
                print(f"{peer} is left out: it cannot be installed here", file=sys.stderr)
        chosen = [servers.ours(folder), *(each for each in peers.values() if each), servers.floor()]
        found = {server.name: measured(server, given.seconds) for server in chosen}
        show(found)
        if given.memory:
            held = growth(chosen[0], given.memory)
            print(f"\nmemory over {given.memory} requests, MB: {', '.join(map(str, held))}")
        if given.json:
            given.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
