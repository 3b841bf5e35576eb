"""Two caps and the user's own stop: CAP and CANCEL."""

from __future__ import annotations

from .model import PARALLEL_TOOLS, Clause

_OBSERVED = "Requests and their times were seen by the provider, and the limit was the loop's own."

CAP = (
    Clause(
        id="CAP-1",
        level="MUST",
        sentence=(
            "The iteration cap binds: a turn never makes more requests than it allows, and one without a "
            "cap that can be set still ends."
        ),
        reason="A model that keeps calling tools keeps spending.",
        ground="construction",
        source=_OBSERVED,
        advice=(
            "Count requests, resumed pauses included and retries not, and look at the count before each one."
        ),
    ),
    Clause(
        id="CAP-2",
        level="MUST",
        sentence="Hitting the iteration cap is reported, and is not a finished answer.",
        reason="A turn that was cut off looks like one that is done.",
        ground="construction",
        source="The turn ended on a reply that asked to go on.",
        advice=(
            "End with the status capped and a report; do not fall out of the `while` into the normal return."
        ),
        needs=("iterations", "report|status|shown|publish"),
    ),
    Clause(
        id="CAP-3",
        level="MUST",
        timed=True,
        sentence="The wall-clock budget binds: no request starts after the deadline.",
        reason="The request outlives its web server, its queue's visibility timeout or the user's patience.",
        ground="construction",
        source=_OBSERVED,
        advice="Compute the deadline once, from a monotonic clock, and look at it before each request.",
        needs=("wall_clock",),
    ),
    Clause(
        id="CAP-4",
        level="MUST",
        sentence="Running out of time is reported, and is not a finished answer.",
        reason="Nobody can tell a slow provider from a loop that ran in circles.",
        ground="construction",
        source="The turn ended on a reply that asked to go on.",
        advice="End with the status capped; report that the time is up and after how many requests.",
        needs=("wall_clock", "report|status|shown|publish"),
    ),
    Clause(
        id="CAP-5",
        level="MUST",
        timed=True,
        sentence="Whichever cap binds first wins.",
        reason="One cap hides the other: time is up, but there are iterations left.",
        ground="construction",
        source=_OBSERVED,
        advice="Look at both limits at the same place, before each request.",
        needs=("iterations", "wall_clock"),
    ),
    Clause(
        id="CAP-6",
        level="SHOULD",
        timed=True,
        sentence=(
            "No call is waited for beyond the wall-clock budget: its own timeout is at most what is left."
        ),
        reason="The last request makes a budget of seconds one of ten minutes, which is what SDKs wait for.",
        ground="construction",
        source=_OBSERVED,
        advice="Give each request a timeout of what is left, and put a deadline around the whole exchange.",
        needs=("wall_clock",),
    ),
    Clause(
        id="CAP-7",
        level="SHOULD",
        sentence="Resumed pauses and rounds of tools count against the same cap.",
        reason="Two counters of ten allow a turn twenty requests.",
        ground="construction",
        source=_OBSERVED,
        advice="Count in the one place that sends requests, not in the branches that ask for another.",
        needs=("iterations",),
    ),
)

CANCEL = (
    Clause(
        id="CANCEL-1",
        level="MUST",
        sentence="After a cancellation no request of the conversation is made.",
        reason="The user pressed stop, and the agent goes on spending and acting.",
        ground="construction",
        source="The cancellation and the request were both seen, in this order.",
        advice="Ask whether the turn is cancelled before each request, not once at its start.",
        needs=("cancel",),
    ),
    Clause(
        id="CANCEL-2",
        level="SHOULD",
        timed=True,
        sentence=(
            "Cancelled while it waits for the provider, a turn lets go promptly: the connection is closed, "
            "nothing is tried again."
        ),
        reason="The user pressed stop, and watches the answer being written to its end, at full price.",
        ground="construction",
        source="The cancellation was seen, and when the connection was closed, and by whom.",
        advice=(
            "Look at the flag between the events of a stream and while waiting for a retry, and close the "
            "response in a `with`."
        ),
        needs=("cancel",),
    ),
    Clause(
        id="CANCEL-3",
        level="MUST",
        timed=True,
        sentence="Cancelled while a tool runs, no further tool starts, and the outcome comes promptly.",
        reason="The user pressed stop before the second of two calls, and it is made all the same.",
        ground="construction",
        source="The cancellation and the call were both seen, in this order.",
        advice=(
            "Ask whether the turn is cancelled before each tool, and answer the skipped calls with an error."
        ),
        needs=("cancel", "tools"),
    ),
    Clause(
        id="CANCEL-4",
        level="MUST",
        sentence="The outcome of a cancelled turn says cancelled: neither failed nor finished.",
        reason="The user's own decision is shown as an error, or half an answer as a whole one.",
        ground="construction",
        source="The turn was cancelled before it could end by itself.",
        advice="Give cancellation its own exit with the status cancelled, apart from the handling of errors.",
        needs=("cancel", "status"),
    ),
    Clause(
        id="CANCEL-5",
        level="MUST",
        sentence="After a cancelled turn the next one works.",
        reason="Pressing stop once breaks the conversation for good.",
        ground="documented",
        source=PARALLEL_TOOLS,
        advice=(
            "On cancel, answer every open call in one user message, or drop the reply that made them; "
            "delete the cancel flag."
        ),
        needs=("cancel",),
    ),
)
