"""Where reports go."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from harness.report.files import check_writable, write, write_folder


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write(path, "first")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            write(path, "second")

    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_it(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        write(tmp_path / "report.json", "{}")
    finally:
        os.umask(mask)

    assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o644


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()

    check_writable(pipe)
    write(pipe, "all of it")
    reader.join(10)

    assert read == ["all of it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_summary_of_a_github_job_is_added_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("from another step\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    write(summary, "ours\n")
    write(tmp_path / "other.md", "ours\n")
    write(tmp_path / "other.md", "again\n")

    assert summary.read_text() == "from another step\nours\n"
    assert (tmp_path / "other.md").read_text() == "again\n"


def test_a_folder_of_reports_is_made(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "deep", folder=True)
    write_folder(tmp_path / "new" / "deep", {"a.py": "1\n", "b.py": "2\n"})

    assert {file.name: file.read_text() for file in (tmp_path / "new" / "deep").iterdir()} == {
        "a.py": "1\n",
        "b.py": "2\n",
    }


def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)
    with pytest.raises(NotADirectoryError):
        check_writable(tmp_path / "file" / "report.json")
    with pytest.raises(OSError, match="exists"):
        check_writable(tmp_path / "file", folder=True)
