from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness import census
from harness.loops.folders import remove
from tests.loops.bad.playing import hosting, played, spec


def after(target):
    """The census of a host, before and after a turn."""

    async def count():
        async with hosting(target) as driver:
            before = await driver.census()
            await played(driver, spec())
            return before, await driver.census()

    return asyncio.run(count())


def test_files_are_listed_whatever_they_are_called_and_however_many_there_are(tmp_path):
    for name in (b"\xff", b"b"):
        os.close(os.open(os.fsencode(tmp_path) + b"/" + name, os.O_CREAT))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "round").symlink_to(tmp_path)
    assert census.files(tmp_path) == ["a/round", "b", "\ufffd"]
    for number in range(census.MOST_FILES):
        (tmp_path / "a" / f"{number}").touch()
    assert len(census.files(tmp_path)) == census.MOST_FILES
    assert census.files(tmp_path / "gone") == []


def test_folders_within_folders_are_removed_however_deep_they_are(tmp_path):
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(sys.getrecursionlimit() + 200):
            os.mkdir("d")  # noqa: PTH102 - a path would be too long
            os.chdir("d")
    finally:
        os.chdir(here)
    assert census.files(tmp_path) == []
    remove(str(tmp_path))
    assert not tmp_path.exists()


def test_nothing_is_alive_in_a_host_whose_loop_leaves_nothing():
    for counted in after("good"):
        assert counted.threads == counted.tasks == counted.children == counted.files == []
        assert counted.sockets == 0


@pytest.mark.parametrize(
    ("target", "field", "left"),
    [
        ("leaves_a_thread", "threads", ["left behind"]),
        ("leaves_a_task", "tasks", ["leaves_a_task.<locals>.background"]),
        ("leaves_a_child", "children", ["sleep 10000"]),
        ("leaves_a_child_elsewhere", "children", ["sleep 10000"]),
        ("leaves_a_socket", "sockets", 1),
    ],
)
def test_what_a_loop_leaves_in_its_host_is_counted(target, field, left):
    before, counted = after(target)
    assert not getattr(before, field)
    assert getattr(counted, field) == left


def test_a_daemon_is_counted_although_it_left_the_family():
    _, counted = after("daemonizes")
    assert len(counted.children) == 1


def test_a_file_left_in_the_temporary_folder_is_counted():
    _, counted = after("leaves_a_file")
    assert [name[-5:] for name in counted.files] == [".left"]


def test_a_host_is_counted_while_its_loop_works():
    async def count():
        async with hosting("spins") as driver:
            turn = asyncio.ensure_future(played(driver, spec(deadline=1.0)))
            await asyncio.sleep(0.3)
            counted = await driver.census()
            assert not turn.done()
            await turn
            return counted, await driver.census()

    while_working, when_stopped = asyncio.run(count())
    assert while_working.threads == when_stopped.threads == []


def test_threads_of_this_process_are_counted_by_name_without_our_own():
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, name=name) for name in ("worker", f"{census.OURS} ours")]
    for thread in threads:
        thread.start()
    try:
        counted = census.take().threads
    finally:
        end.set()
        for thread in threads:
            thread.join()
    assert "worker" in counted
    assert f"{census.OURS} ours" not in counted
    assert "worker" not in census.take().threads


def test_open_sockets_of_this_process_are_counted():
    before = census.take().sockets
    with socket.socket(), socket.socket():
        assert census.take().sockets == before + 2
    assert census.take().sockets == before
    assert census.take(ours=before + 5).sockets == 0


def test_only_so_many_files_are_listed(tmp_path):
    (tmp_path / "deep").mkdir()
    for number in range(census.MOST_FILES + 5):
        (tmp_path / "deep" / f"{number:04}").touch()
    files = census.take(folder=str(tmp_path)).files
    assert len(files) == census.MOST_FILES
    assert files[0] == "deep/0000"


def test_descendants_are_found_and_the_dead_are_not():
    with subprocess.Popen(["sh", "-c", "sleep 20000 & wait"]) as shell:
        # The shell's child is called as the shell is until it has become what it is to be.
        while "sleep 20000" not in (family := census.family(os.getpid())).values():
            pass
        assert family[shell.pid] == "sh -c sleep 20000 & wait"
        (sleeper,) = [pid for pid, command in family.items() if command == "sleep 20000"]
        os.kill(sleeper, 9)
        shell.kill()
        assert shell.pid not in census.family(shell.pid)
        while shell.poll() is None:
            pass
    assert not {"sleep 20000"} & set(census.family(os.getpid()).values())


def test_a_marked_process_is_found_whoever_its_parent_is():
    with subprocess.Popen(["sleep", "20000"], env={**os.environ, census.MARK: "abc"}) as marked:
        try:
            nobody = 2**22 + 1
            while census.family(nobody, "abc") != {marked.pid: "sleep 20000"}:
                pass
            assert census.family(nobody, "ab") == {}
            assert census.family(nobody) == {}
            assert census.family(nobody, known={marked.pid: "sleep 20000"}) == {marked.pid: "sleep 20000"}
            assert census.family(nobody, known={marked.pid: "another"}) == {}
        finally:
            marked.kill()


def test_processes_are_found_by_ps_where_there_is_no_proc(monkeypatch):
    listing = (
        b"    1     0 S /sbin/init\n   20     1 S loop A=1\n   21    20 R child of it\n"
        b"   22     1 S daemon LOOP_HARNESS_RUN=abc\n   23    20 Z\nnonsense\n"
    )
    monkeypatch.setattr(census.Path, "exists", lambda path: False)
    monkeypatch.setattr(
        census.subprocess, "run", lambda *args, **options: subprocess.CompletedProcess([], 0, listing)
    )
    assert census.family(20, "abc") == {21: "child of it", 22: "daemon LOOP_HARNESS_RUN=abc"}
