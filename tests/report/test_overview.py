"""A line for each exchange of a conversation, failed attempts among them."""

from dataclasses import replace

from turns import turn

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import assistant, user
from proxyaudit.core.recording import Recording
from proxyaudit.core.report import Report
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.engine import Audited
from proxyaudit.report.console import plain
from proxyaudit.report.overview import overview
from proxyaudit.report.overview_text import overview_text
from proxyaudit.report.units import number, seconds, short_length, size


def _audited(conversation: Conversation, *turns: Turn) -> Audited:
    return Audited(
        Report(target="x", verdict="clean"),
        (conversation,),
        (),
        {t.id: t for t in turns},
        {"get1": "GET asks nothing of a model"},
        {"good": ("up1", "up2")},
        {},
    )


def test_attempts_turns_and_others_are_told_apart() -> None:
    failed = turn(user("a"), id="bad", status=500, error="overloaded")
    good = turn(user("a"), reply=assistant("b"), id="good")
    cut = turn(user("a"), assistant("b"), user("c"), id="cut")
    cut = replace(cut, exchange=replace(cut.exchange, end="client_abort"))
    get = replace(turn(id="get1").exchange, response=None)
    conversation = Conversation("c1", turns=[good, cut], exchanges=["bad", "good", "cut"])
    recording = Recording("x", (failed.exchange, good.exchange, cut.exchange, get))

    view = overview(recording, _audited(conversation, failed, good, cut))

    lines = view.conversations[0].lines
    assert [(line.exchange, line.turn, line.new, line.marks) for line in lines] == [
        ("bad", None, None, ("error", "other attempt")),
        ("good", 1, None, ("2 attempts upstream",)),
        ("cut", 2, 2, ("client abort",)),
    ]
    assert [(o.exchange, o.status, o.reason) for o in view.others] == [
        ("get1", None, "GET asks nothing of a model")
    ]
    assert view.taps == {"client": 4}


def test_units_are_short_and_honest() -> None:
    assert [seconds(s) for s in (None, 0.0021, 0.314, 42.4)] == ["", "2 ms", "0.31 s", "42 s"]
    assert [size(n) for n in (999, 1500, 250_000, 37_400_000)] == [
        "999 B",
        "1.5 kB",
        "250 kB",
        "37.4 MB",
    ]
    assert (number(None), number(1204)) == ("", "1,204")


def test_ids_are_cut_where_they_still_differ() -> None:
    assert short_length(["abcdefgh-1", "abcdefgh-2"]) == 10
    assert short_length(["abcdefghijk", "zbcdefghijk"]) == 8
    assert short_length([]) == 8


def test_cached_tokens_have_a_column_where_any_reply_tells_them() -> None:
    """A reply that does not tell them leaves its cell empty: that is not zero."""
    first, second = (turn(user("a"), reply=assistant("b"), id=id_) for id_ in ("one", "two"))
    assert first.reply
    told = replace(first, reply=replace(first.reply, usage=Usage(prompt=80, cached=64)))
    conversation = Conversation("c1", turns=[told, second], exchanges=["one", "two"])
    recording = Recording("x", (told.exchange, second.exchange))

    def rows(*turns: Turn) -> list[str]:
        view = overview(recording, _audited(conversation, *turns))
        return plain(overview_text(view)).splitlines()[3:6]

    heads, one, two = rows(told, second)
    assert "cached" in heads
    column = heads.index("cached") + len("cached")
    assert one[:column].endswith(" 64")
    assert two[heads.index("cached") : column].strip() == ""
    assert "cached" not in rows(first, second)[0]
