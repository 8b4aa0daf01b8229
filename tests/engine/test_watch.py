"""The watch says what the audit says, at the request where that is possible, and forgets in time."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import injected_history
import injected_hop
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from injecting import LABEL, Pick, through
from shared import CAPTURES, CASES, as_recording
from stories import EXAMPLES, TOOLS, Json, Step, exchange, stories
from watching import WATCHED, alarmed, audited, watched

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Turn
from proxyaudit.engine.memory import Memory
from proxyaudit.engine.watch import Alert, Watcher
from proxyaudit.rules.base import Facts, Found, Rule
from proxyaudit.store.read import open_recording

SAMPLES = sorted((Path(__file__).parents[2] / "recordings" / "samples").glob("*.jsonl"))
FAULTS = {**injected_history.FAULTS, **injected_hop.FAULTS}


def agrees(recording: Recording) -> None:
    """All alarms about history at the request, and no alarm that the audit does not give."""
    told, seen = audited(recording), watched(recording)
    assert alarmed(told, WATCHED) <= seen.at_request
    assert alarmed(seen.told) <= told
    assert not seen.watcher.breaks


@pytest.mark.parametrize("path", [*SAMPLES, *CAPTURES], ids=lambda path: path.stem)
def test_it_agrees_with_the_audit_on_recordings(path: Path) -> None:
    agrees(open_recording(path))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_it_agrees_with_the_audit_on_faults(path: Path, tmp_path: Path) -> None:
    recording = tmp_path / f"{path.stem}.jsonl"
    recording.write_text(as_recording(path), encoding="utf-8")
    agrees(open_recording(recording))


@pytest.mark.parametrize("name", FAULTS)
@given(steps=stories(least=3), data=st.data())
@settings(max_examples=max(1, EXAMPLES // 4))
def test_it_agrees_with_the_audit_on_any_conversation(
    name: str, steps: list[Step], data: st.DataObject
) -> None:
    pick = Pick(lambda options: data.draw(st.sampled_from(options)))
    if (injected := FAULTS[name].inject(steps, pick)) is not None:
        agrees(injected.recording())


def test_the_samples_hold_something_to_agree_on() -> None:
    found = [alarmed(audited(open_recording(path)), WATCHED) for path in SAMPLES]
    assert sum(map(len, found)) >= 5


def story(turns: int) -> list[Step]:
    """A conversation without calls; every message is another one."""
    history: list[Json] = [{"role": "system", "content": "You keep a shed."}]
    steps = []
    for n in range(turns):
        history.append({"role": "user", "content": f"question {n} about rake number {n}?"})
        reply = {"role": "assistant", "content": f"Rake {n} hangs at hook {n}, behind the door."}
        steps.append(Step({"model": "m", "messages": list(history), "tools": TOOLS}, reply))
        history.append(reply)
    return steps


def asked(made: Exchange) -> Exchange:
    return replace(made, response=None)


def alarms(alerts: list[Alert]) -> list[str]:
    return [a.finding.rule for a in alerts if a.finding.severity != "info"]


def without_history(step: Step) -> Step:
    """As a harness that forgets would send it: three messages in the middle are gone."""
    messages = step.body["messages"]
    return Step({**step.body, "messages": [messages[0], *messages[4:]]}, step.reply)


def test_a_lost_history_is_told_at_the_request() -> None:
    """Before there is a reply; and once, not again at the end."""
    *steps, last = story(5)
    watcher = Watcher()
    for n, step in enumerate(steps):
        made = exchange(step.body, step.reply, n)
        assert alarms(watcher.begin(asked(made))) == []
        assert alarms(watcher.end(made)[1]) == []
    lost = exchange(without_history(last).body, last.reply, 4)
    (alert,) = watcher.begin(asked(lost))
    assert (alert.finding.rule, alert.finding.suspect) == ("message.dropped", "harness")
    assert (alert.conversation, alert.turn, alert.early, alert.again) == ("c1", 5, True, False)
    seen, later = watcher.end(lost)
    assert alarms(later) == []
    assert [(s.turn.id, s.conversation, s.number) for s in seen] == [("4-client", "c1", 5)]


def test_a_proxy_that_forgets_is_told_when_the_upstream_tap_sees_its_request() -> None:
    steps = story(5)
    watcher = Watcher()
    made = through(steps, 4, exchange(without_history(steps[4]).body, {}, 4, tap="upstream"))
    for client, upstream in zip(made[:-2:2], made[1:-2:2], strict=True):
        for alerts in (
            watcher.begin(asked(client)),
            watcher.begin(asked(upstream)),
            watcher.end(upstream)[1],
            watcher.end(client)[1],
        ):
            assert alarms(alerts) == []
    client, upstream = made[-2:]
    assert watcher.begin(asked(client)) == []
    (alert,) = watcher.begin(asked(upstream))
    assert (alert.finding.rule, alert.finding.suspect) == ("message.dropped", "proxy")
    assert (alert.turn, alert.early) == (5, True)


def test_a_fault_that_lasts_is_told_once_and_anew_when_it_comes_back() -> None:
    """Each turn has it from the third on; then none for a while."""
    steps = story(20)
    watcher = Watcher()
    bad = {2, 3, 4, 5, 18, 19}
    told = {}
    for n, step in enumerate(steps):
        client = exchange(step.body, step.reply, n)
        sent = without_history(step) if n in bad else step
        upstream = exchange(sent.body, step.reply, n, tap="upstream")
        watcher.begin(asked(client))
        for alert in watcher.begin(asked(upstream)):
            told[n] = alert.again
        watcher.end(upstream)
        watcher.end(client)
    assert told == {2: False, 3: True, 4: True, 5: True, 18: False, 19: True}


def test_a_request_that_overtakes_the_end_of_the_one_before_is_judged_after_it() -> None:
    """Whoever has read the last byte may ask on at once; what the reply was is not known yet."""
    one, two, three = (exchange(s.body, s.reply, n) for n, s in enumerate(story(3)))
    dropped = {**story(3)[2].body}
    dropped["messages"] = [
        m for m in dropped["messages"] if m["content"] != "question 1 about rake number 1?"
    ]
    lost = exchange(dropped, {}, 2)
    for last, expected in ((three, []), (lost, ["message.dropped"])):
        watcher = Watcher()
        watcher.begin(asked(one))
        watcher.end(one)
        watcher.begin(asked(two))
        assert watcher.begin(asked(last)) == []
        assert alarms(watcher.end(two)[1]) == expected


def test_a_side_request_or_a_second_agent_meanwhile_is_no_loss() -> None:
    """Sent while the main reply is on its way, with the same label and nothing of it."""
    steps = story(3)
    watcher = Watcher()
    first, second = (exchange(s.body, s.reply, n, headers=LABEL) for n, s in enumerate(steps[:2]))
    title: Json = {"model": "m", "messages": [{"role": "user", "content": "Generate a title."}]}
    side = exchange(title, {"role": "assistant", "content": "Shed"}, 0.1, headers=LABEL)
    said = [watcher.begin(asked(first)), watcher.begin(asked(side)), watcher.end(side)[1]]
    said += [watcher.end(first)[1], watcher.begin(asked(second)), watcher.end(second)[1]]
    assert [alarms(alerts) for alerts in said] == [[]] * 6


def test_an_end_that_is_never_told_holds_nothing_up() -> None:
    """The turn after it waits for its own end, and the watch goes on from there."""
    steps = story(4)
    watcher = Watcher()
    made = [exchange(s.body, s.reply, n) for n, s in enumerate(steps)]
    watcher.begin(asked(made[0]))
    watcher.lose(made[0].id)
    lost = exchange(without_history(steps[3]).body, steps[3].reply, 3)
    for turn in made[1:3]:
        assert alarms(watcher.begin(asked(turn))) == []
        assert alarms(watcher.end(turn)[1]) == []
    assert alarms(watcher.begin(asked(lost))) == ["message.dropped"]


def test_a_rule_that_breaks_is_noted_and_the_others_go_on() -> None:
    def broken(found: Comparison, facts: Facts) -> Iterator[Found]:
        raise RuntimeError("no")
        yield

    def whole(found: Comparison, facts: Facts) -> Iterator[Found]:
        yield Found("it was compared", (found.right_place(),))

    rules = [
        Rule(name, "error", Comparison, check, frozenset({Relation.NEXT_TURN}))
        for name, check in (("a.broken", broken), ("b.whole", whole))
    ]
    watcher = Watcher(rules=rules)
    one, two = (exchange(s.body, s.reply, n) for n, s in enumerate(story(2)))
    watcher.begin(asked(one))
    watcher.end(one)
    assert alarms(watcher.begin(asked(two))) == ["b.whole"]
    assert list(watcher.breaks) == ["rule a.broken broke: RuntimeError: no"]


def play(watcher: Watcher, steps: list[Step], start: float = 0) -> list[str]:
    said: list[str] = []
    for n, step in enumerate(steps):
        made = exchange(step.body, step.reply, start + n, headers=LABEL)
        said += alarms(watcher.begin(asked(made)))
        said += alarms(watcher.end(made)[1])
    return said


def held(watcher: Watcher) -> list[Turn]:
    return [turn for c in watcher._threader.conversations for turn in c.turns]


def test_a_long_conversation_takes_bounded_memory_and_is_still_watched() -> None:
    """Old turns are forgotten; a loss at the end is seen, and numbers go on."""
    steps = story(60)
    memory = Memory(turns=4)
    watcher = Watcher(memory=memory)
    assert play(watcher, steps[:-1]) == []
    assert len(held(watcher)) <= 9
    assert len(watcher._threader._known) <= 9
    assert len(memory.places) <= 9
    assert all(not turn.exchange.request.body for turn in held(watcher))
    assert watcher._open == {}
    lost = exchange(without_history(steps[-1]).body, {}, 60, headers=LABEL)
    (alert,) = watcher.begin(asked(lost))
    assert (alert.finding.rule, alert.turn) == ("message.dropped", 60)


def test_conversations_that_are_idle_or_too_many_are_forgotten() -> None:
    memory = Memory(conversations=5, idle=1000.0)
    watcher = Watcher(memory=memory)
    for n in range(12):
        steps = story(2)
        for step in steps:
            step.body["messages"][0]["content"] = f"You keep shed {n}."
            step.body["messages"][1]["content"] = f"What is in shed {n}, and in all others?"
        for k, step in enumerate(steps):
            made = exchange(step.body, step.reply, 10 * n + k, headers=(("x-session-id", str(n)),))
            watcher.begin(asked(made))
            watcher.end(made)
    threader = watcher._threader
    assert [c.id for c in threader.conversations] == ["c8", "c9", "c10", "c11", "c12"]
    assert len(threader._known) == len(memory.places) == 10
    assert not [held for held in threader._by_first.values() if len(held) > 5]
    assert len(threader._by_session) == 5
    assert play(watcher, story(1), 5000.0) == []
    assert [c.id for c in threader.conversations] == ["c13"]


def calls_of(work: Callable[[], object]) -> int:
    """How many Python functions some work calls."""
    number = 0

    def count(frame: object, event: str, _: object) -> None:
        nonlocal number
        number += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return number


def test_a_turn_costs_what_is_new_in_it() -> None:
    """The hundred-and-twentieth turn takes about as much work as the fortieth, not thrice as much."""
    watcher = Watcher()
    work = {}
    for n, step in enumerate(story(120)):
        made = exchange(step.body, step.reply, n, headers=LABEL)
        turn = partial(_turn, watcher, made)
        if n % 40 >= 35:
            work[n] = calls_of(turn)
        else:
            turn()
    early, late = (sum(work[n] for n in range(last - 4, last)) for last in (40, 120))
    assert late < 2 * early, work


def _turn(watcher: Watcher, made: Exchange) -> None:
    watcher.begin(asked(made))
    watcher.end(made)
