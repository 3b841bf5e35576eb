from __future__ import annotations

import re

from harness.wire.ids import Ids, looks_real, opaque_id, uuid_like


def test_ids_look_like_the_apis() -> None:
    assert re.fullmatch(r"toolu_01[1-9A-HJ-NP-Za-km-z]{22}", opaque_id("toolu_", "x"))
    assert re.fullmatch(r"req_011C[1-9A-HJ-NP-Za-km-z]{20}", opaque_id("req_", "x"))
    assert re.fullmatch(r"msg_011C[1-9A-HJ-NP-Za-km-z]{20}", opaque_id("msg_", "x"))
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", uuid_like("x"))


def test_the_same_seed_gives_the_same_ids() -> None:
    first, second, other = Ids(1), Ids(1), Ids(2)
    given = [first.next("msg_") for _ in range(3)]
    assert given == [second.next("msg_") for _ in range(3)]
    assert len(set(given)) == 3
    assert other.next("msg_") not in given


def test_a_label_keeps_its_id_and_gets_another_in_each_round() -> None:
    ids = Ids(7)
    assert ids.of_label("toolu_", "first") == ids.of_label("toolu_", "first")
    assert ids.of_label("toolu_", "first", 1) != ids.of_label("toolu_", "first", 0)


def test_real_ids_are_told_from_labels() -> None:
    assert looks_real("srvtoolu_01abc")
    assert looks_real("toolu_x")
    assert not looks_real("first call")
    assert not looks_real("toolu_")


def test_opaque_data_is_base64_and_never_repeats() -> None:
    ids = Ids(0)
    one, two = ids.data("signature"), ids.data("signature")
    assert re.fullmatch(r"E[A-Za-z0-9+/]{255}", one)
    assert one != two
