"""Writing cassettes: what vcrpy reads back, and what is there at any moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
import vcr.serialize
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from vcr.persisters.filesystem import FilesystemPersister
from vcr.serializers import yamlserializer

from harness.cassettes.model import EXTRA, Interaction, Piece, Request, Response
from harness.cassettes.read import CassetteError, read
from harness.cassettes.tape import Tape
from harness.cassettes.write import write

STREAM = (
    b'event: ping\ndata: {"type": "ping"}\n\nevent: x\ndata: {"text":"na\xc3\xafve \xf0\x9f\x98\x80"   }\n\n'
)


def interaction(asked: bytes = b'{"n": 1}', answered: bytes = STREAM, **fields: Any) -> Interaction:
    headers = [("content-type", "application/json"), ("set-cookie", "a"), ("set-cookie", "b")]
    pieces = [Piece(0.0, 13), Piece(0.25004, len(answered) - 13)]
    return Interaction(
        request=Request(method="POST", uri="https://x.test/v1/messages", headers=headers[:1], body=asked),
        response=Response(
            status=200, reason="OK", headers=headers, body=answered, head_at=0.1, pieces=pieces, **fields
        ),
        asked_at=1.5,
    )


def by_vcrpy(path: Path) -> list[tuple[Any, Any]]:
    requests, responses = FilesystemPersister.load_cassette(path, yamlserializer)
    return list(zip(requests, responses, strict=True))


def extras(path: Path) -> list[Any]:
    return [one.get(EXTRA) for one in yaml.safe_load(path.read_text())["interactions"]]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_vcrpy_reads_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.yaml"

    write(path, [interaction(), interaction(b"", b"\x89PNG\xff")])

    [(asked, answered), (nothing, binary)] = by_vcrpy(path)
    assert (asked.method, asked.uri, asked.body) == ("POST", "https://x.test/v1/messages", b'{"n": 1}')
    assert answered["status"] == {"code": 200, "message": "OK"}
    assert answered["headers"]["set-cookie"] == ["a", "b"]
    assert answered["body"]["string"] == STREAM
    assert (nothing.body, binary["body"]["string"]) == (b"", b"\x89PNG\xff")
    assert names(path.parent) == {"x.yaml"}


def test_the_pace_stands_where_vcrpy_does_not_look(tmp_path: Path) -> None:
    write(tmp_path / "x.yaml", [interaction(broken=True)], made_by="a test")

    assert extras(tmp_path / "x.yaml") == [
        {
            "asked_at": 1.5,
            "head_at": 0.1,
            "pieces": [[0.0, 13], [0.25, len(STREAM) - 13]],
            "broken": True,
        }
    ]
    told = yaml.safe_load((tmp_path / "x.yaml").read_text())[EXTRA]
    assert told == {"format": 1, "secrets_checked": True, "made_by": "a test"}


def test_the_pace_is_read_again(tmp_path: Path) -> None:
    written = [interaction(), interaction(broken=True)]
    write(tmp_path / "x.yaml", written, made_by="a test")

    cassette = read(tmp_path / "x.yaml")

    assert (cassette.secrets_checked, cassette.made_by) == (True, "a test")
    assert [one.line for one in cassette.interactions] == [4, 23]
    assert [plain(one) for one in cassette.interactions] == [plain(one) for one in written]


def plain(one: Interaction) -> Any:
    """Without the line, and with times as they are kept."""
    return msgspec.structs.replace(
        one,
        line=0,
        response=msgspec.structs.replace(
            one.response, pieces=[Piece(round(piece.at, 4), piece.size) for piece in one.response.pieces]
        ),
    )


def test_a_body_edited_by_hand_has_no_pace(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    write(path, [interaction()])
    path.write_text(path.read_text().replace("na\u00efve", "naive"))

    [one] = read(path).interactions

    assert b"naive" in one.response.body
    assert one.response.pieces == []
    assert one.response.head_at == 0.1


def test_a_pace_that_is_none_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    write(path, [interaction()])
    path.write_text(path.read_text().replace("head_at: 0.1", "head_at: soon"))

    with pytest.raises(CassetteError, match=r"x.yaml:4:3: interaction 1: its `loop_harness`: .*head_at"):
        read(path)


def test_a_stream_is_written_as_lines(tmp_path: Path) -> None:
    lines = b'data: {"a": 1}\n\ndata: {"b": 2}\n\n'
    write(tmp_path / "x.yaml", [interaction(answered=lines), interaction(answered=lines)])

    assert [answered["body"]["string"] for _, answered in by_vcrpy(tmp_path / "x.yaml")] == [lines, lines]
    assert '        data: {"b": 2}\n' in (tmp_path / "x.yaml").read_text()


@settings(deadline=None)
@given(st.text() | st.text(alphabet="\n\r\t \x85\u2028\u2029\ufeff#:-'\"{é😀", max_size=12) | st.binary())
def test_every_body_comes_back_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, body: str | bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body

    write(path, [interaction(data, data)])

    [(asked, answered)] = by_vcrpy(path)
    assert (asked.body, answered["body"]["string"]) == (data, data)


def test_a_recording_without_interactions_can_be_loaded(tmp_path: Path) -> None:
    write(tmp_path / "x.yaml", [])

    assert by_vcrpy(tmp_path / "x.yaml") == []


def test_without_keep_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    write(path, [interaction()])
    before = path.read_bytes()

    with Tape(path) as tape:
        tape.add(interaction(b"other"))
        assert path.read_bytes() == before

    assert path.read_bytes() == before
    assert names(tmp_path) == {"x.yaml"}


@pytest.mark.parametrize("links", [True, False])
def test_a_live_recording_is_complete_after_every_interaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    path = tmp_path / "x.yaml"
    if not links:
        monkeypatch.setattr(os, "link", refused)
    with Tape(path, live=True) as tape:
        assert by_vcrpy(path) == []
        for number in range(5):
            tape.add(interaction(b"%d" % number))
            assert [asked.body for asked, _ in by_vcrpy(path)] == [b"%d" % n for n in range(number + 1)]
        tape.keep()

    assert len(by_vcrpy(path)) == 5
    assert names(tmp_path) == {"x.yaml"}


def refused(*_: Any) -> None:
    raise OSError(95, "not supported")


def test_a_live_recording_of_nothing_leaves_nothing(tmp_path: Path) -> None:
    with Tape(tmp_path / "x.yaml", live=True):
        assert names(tmp_path) > {"x.yaml"}

    assert names(tmp_path) == set()


def test_folders_that_were_made_for_nothing_are_taken_away(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with Tape(tmp_path / "a" / "b" / "c" / "x.yaml") as tape:
        tape.add(interaction())

    assert names(tmp_path) == {"a"}
    assert names(tmp_path / "a") == set()


def test_two_may_write_one_cassette_and_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with Tape(path, live=True) as one, Tape(path, live=True) as other:
        for number in range(3):
            one.add(interaction(b"one"))
            other.add(interaction(b"other"))
            assert [asked.body for asked, _ in by_vcrpy(path)] == [b"other"] * (number + 1)

    assert names(tmp_path) == {"x.yaml"}


def test_what_a_killed_recording_left_is_swept_away(tmp_path: Path) -> None:
    gone = tmp_path / ".x.yaml.99999999.0.part"
    alive = tmp_path / f".x.yaml.{os.getppid()}.0.part"
    gone.touch()
    alive.touch()

    write(tmp_path / "x.yaml", [interaction()])

    assert names(tmp_path) == {"x.yaml", alive.name}


def test_unreadable_text_is_no_cause_for_another_format(tmp_path: Path) -> None:
    write(tmp_path / "x.yaml", [interaction(answered=b"half \xe2\x82")])

    assert vcr.serialize.deserialize((tmp_path / "x.yaml").read_text(), yamlserializer)[1][0]["body"] == {
        "string": b"half \xe2\x82"
    }
