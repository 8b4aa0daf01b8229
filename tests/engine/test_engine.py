"""The engine: outcomes, suspects, merging, verdicts."""

from collections.abc import Iterator

import pytest
from turns import turn

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.finding import Place, Skip
from proxyaudit.core.message import assistant, system, user
from proxyaudit.core.recording import Flaw, Recording
from proxyaudit.core.turn import Turn
from proxyaudit.engine import audit
from proxyaudit.engine import subjects as subjects_module
from proxyaudit.rules.base import Facts, Found, Outcome, Rule, Subject

S = system("You keep a shed.")
A, B, C, D, E = user("rakes"), assistant("noted"), user("cans"), assistant("added"), user("more")


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> object:
    """Make a recording of turns without bytes: the dialect is told what to read."""

    def make(*turns: Turn) -> Recording:
        by_id = {t.id: t for t in turns}

        def read(exchange: Exchange) -> tuple[Turn, ...]:
            return (by_id[exchange.id],)

        monkeypatch.setattr(subjects_module, "read_turns", read)
        return Recording("test", tuple(t.exchange for t in turns))

    return make


def rule_on(subject: type[Subject], check: object) -> Rule:
    return Rule("test.rule", "warn", subject, check)  # type: ignore[arg-type]


def in_reply(marked: set[str]) -> Rule:
    """A rule that finds something in the replies of the turns with these ids."""

    def check(turn: Turn, facts: Facts) -> Iterator[Outcome]:
        if turn.id in marked:
            yield Found("bad", (Place(turn.id, turn.response_side, ""),))

    return rule_on(Turn, check)


def in_request(marked: set[str]) -> Rule:
    def check(turn: Turn, facts: Facts) -> Iterator[Outcome]:
        if turn.id in marked:
            yield Found("bad", (Place(turn.id, turn.request_side, ""),))

    return rule_on(Turn, check)


def two_taps() -> tuple[Turn, Turn]:
    client = turn(S, A, reply=B, id="client", at=1.0)
    return client, turn(S, A, reply=B, id="upstream", at=1.1, tap="upstream")


@pytest.mark.parametrize(
    ("rule", "suspect"),
    [
        (in_reply({"client"}), "proxy"),
        (in_reply({"client", "upstream"}), "server"),
        (in_reply({"upstream"}), "server"),
        (in_request({"client", "upstream"}), "harness"),
        (in_request({"upstream"}), "proxy"),
    ],
)
def test_two_taps_tell_who_did_it(recorded: object, rule: Rule, suspect: str) -> None:
    found = audit(recorded(*two_taps()), [rule]).report.findings  # type: ignore[operator]
    assert [f.suspect for f in found] == [suspect]


@pytest.mark.parametrize(
    ("rule", "suspect"), [(in_reply({"one"}), "upstream"), (in_request({"one"}), "harness")]
)
def test_one_tap_cannot_tell_the_proxy_from_the_server(
    recorded: object, rule: Rule, suspect: str
) -> None:
    alone = turn(S, A, reply=B, id="one")
    found = audit(recorded(alone), [rule]).report.findings  # type: ignore[operator]
    assert [f.suspect for f in found] == [suspect]


def test_a_rule_that_raises_breaks_alone(recorded: object) -> None:
    def check(turn: Turn, facts: Facts) -> Iterator[Outcome]:
        raise KeyError("oops")
        yield

    report = audit(
        recorded(turn(S, A, reply=B, id="one")),  # type: ignore[operator]
        [rule_on(Turn, check), in_reply({"one"})],
    ).report
    assert [f.rule for f in report.findings] == ["test.rule"]
    assert report.checked[0].broke == 1
    assert "broke on turn one: KeyError" in report.flaws[0]


def test_a_skip_is_counted_with_its_reason(recorded: object) -> None:
    def check(turn: Turn, facts: Facts) -> Iterator[Outcome]:
        yield Skip("no chunk times")

    report = audit(recorded(turn(S, A, reply=B)), [rule_on(Turn, check)]).report  # type: ignore[operator]
    assert report.checked[0].skipped == {"no chunk times": 1}


def test_a_fault_that_lasts_is_one_finding_with_all_its_places(recorded: object) -> None:
    one = turn(S, A, reply=B, id="one")
    two = turn(S, A, B, C, reply=D, id="two")
    found = audit(recorded(one, two), [in_reply({"one", "two"})]).report.findings  # type: ignore[operator]
    assert [[p.exchange for p in f.places] for f in found] == [["one", "two"]]
    assert found[0].evidence["times"] == 2
    assert (found[0].conversation, found[0].turn) == ("c1", 1)


def test_nothing_to_judge_is_inconclusive_not_clean() -> None:
    report = audit(Recording("test", ())).report
    assert report.verdict == "inconclusive"


def test_flaws_of_the_recording_are_told(recorded: object) -> None:
    recording: Recording = recorded(turn(S, A, reply=B))  # type: ignore[operator]
    flawed = Recording("test", recording.exchanges, flaws=(Flaw("f:3", "torn"),))
    assert audit(flawed, []).report.flaws == ["f:3: torn"]


def test_the_headline_names_the_suspect_and_the_turn(recorded: object) -> None:
    report = audit(
        recorded(  # type: ignore[operator]
            turn(S, A, reply=B, at=1.0),
            turn(S, A, reply=B, at=1.1, tap="upstream"),
            turn(S, A, B, C, reply=D, at=3.0),
            turn(S, C, reply=D, at=3.1, tap="upstream"),
        )
    ).report
    assert report.verdict == "findings"
    assert report.headline == "The proxy lost 2 of 4 messages between the taps at turn 2."


def test_a_request_that_never_reached_the_second_tap_is_a_skip_not_silence(
    recorded: object,
) -> None:
    report = audit(
        recorded(  # type: ignore[operator]
            turn(S, A, reply=B, at=1.0),
            turn(S, A, reply=B, at=1.1, tap="upstream"),
            turn(S, A, B, C, reply=D, at=30.0),
        )
    ).report
    forwarded = next(c for c in report.checked if c.rule == "message.dropped")
    assert forwarded.subjects == 3  # the next turn, the pair, and the one that could not be paired
    reasons = {r for c in report.checked for r in c.skipped}
    assert "across the hop: not seen at the upstream tap" in reasons


def test_requests_without_a_whole_reply_are_inconclusive_not_clean(recorded: object) -> None:
    failed = turn(S, A, status=502, finish=None, error="bad gateway")
    report = audit(recorded(failed), [in_reply(set())]).report  # type: ignore[operator]
    assert report.verdict == "inconclusive"
    assert report.headline == "Nothing could be judged: the only request got no whole reply."


def test_no_rule_is_no_verdict(recorded: object) -> None:
    report = audit(recorded(turn(S, A, reply=B)), []).report  # type: ignore[operator]
    assert report.verdict == "inconclusive"


def test_a_selection_of_rules_does_not_acquit(recorded: object) -> None:
    report = audit(recorded(turn(S, A, reply=B)), [in_reply(set())]).report  # type: ignore[operator]
    assert report.headline.startswith("The selected rules found nothing")


def test_an_upstream_tap_that_saw_nothing_is_told(recorded: object) -> None:
    recording: Recording = recorded(turn(S, A, reply=B, prompt_tokens=9))  # type: ignore[operator]
    silent = Recording("test", recording.exchanges, about={"backend": "http://b"})
    report = audit(silent).report
    assert report.verdict == "inconclusive"
    assert "the upstream tap was open and saw nothing" in report.headline


def test_a_conversation_that_begins_anew_dims_the_acquittal(recorded: object) -> None:
    report = audit(
        recorded(  # type: ignore[operator]
            turn(S, A, reply=B, prompt_tokens=9),
            turn(S, A, B, C, reply=D, prompt_tokens=19),
            turn(S, E, reply=B, prompt_tokens=9),
        )
    ).report
    assert report.verdict == "clean"
    assert "1 of them begins anew where another had ended" in report.headline


def test_the_headline_names_a_suspect_that_the_message_does_not(recorded: object) -> None:
    report = audit(recorded(*two_taps()), [in_reply({"client"})]).report  # type: ignore[operator]
    assert report.headline == "Bad at turn 1. Suspect: the proxy."
