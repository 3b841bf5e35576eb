"""What the probe says of a service whose answers are none."""

from __future__ import annotations

import pytest

from harness.client_probe import no_answers
from harness.history import Ended
from harness.looks import Mark


def ended(*look: Mark, shown: list[str] | None) -> Ended:
    return Ended(returned="none" if shown is None else "text", shown=shown, look=list(look))


OK: list[Mark] = [("status", "200"), ("type", "application/json"), ("end", "whole")]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            ended(("status", "none"), ("end", "RemoteProtocolError"), shown=None),
            "what it answers is no answer of HTTP's: RemoteProtocolError",
        ),
        (
            ended(("status", "500"), ("type", ""), ("end", "whole"), shown=[]),
            "it answers with 500, although the model's replies were whole",
        ),
        (ended(("status", "401"), ("end", "whole"), shown=None), "it answers with 401"),
        (
            ended(*OK, ("body", "not JSON"), shown=[]),
            "holds no text, and no other field holds it (200, application/json, not JSON)",
        ),
        (ended(*OK, ("$.job", "1"), shown=[]), "no other field holds it (200, application/json): write text"),
    ],
)
def test_a_service_that_never_answers_is_not_judged_by_its_answers(answer: Ended, said: str) -> None:
    assert said in no_answers([answer], [answer])


@pytest.mark.parametrize("shown", [["Hello."], None])
def test_one_answer_is_enough_and_so_is_that_nobody_looks(shown: list[str] | None) -> None:
    nothing = ended(("status", "500"), ("end", "whole"), shown=[])
    assert no_answers([nothing], [ended(*OK, shown=shown)]) == ""
    assert no_answers([], [nothing]) == ""
