"""What clients lawfully do to a conversation must not be alarmed, whatever the conversation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from injecting import Pick
from lawful import LAWFUL, interleaved, titled
from stories import EXAMPLES, Step, recording, stories

from proxyaudit.engine import audit


def picking(data: st.DataObject) -> Pick:
    return Pick(lambda options: data.draw(st.sampled_from(options)))


@pytest.mark.parametrize("name", LAWFUL)
@given(steps=stories(least=3), other=stories(), data=st.data())
@settings(max_examples=EXAMPLES)
def test_it_is_not_alarmed(
    name: str, steps: list[Step], other: list[Step], data: st.DataObject
) -> None:
    report = audit(recording(LAWFUL[name](steps, other, picking(data)))).report
    assert report.flaws == []
    assert [f"{f.rule}: {f.message}" for f in report.findings if f.severity != "info"] == []


@given(stories(), stories(), st.data())
@settings(max_examples=EXAMPLES)
def test_two_conversations_without_labels_are_told_apart(
    one: list[Step], two: list[Step], data: st.DataObject
) -> None:
    audited = audit(recording(interleaved(one, two, picking(data))))
    threads = sorted(len(c.exchanges) for c in audited.conversations)
    assert threads == sorted([len(one), len(two)])


@given(stories(), st.data())
@settings(max_examples=EXAMPLES)
def test_a_title_is_a_side_request(steps: list[Step], data: st.DataObject) -> None:
    audited = audit(recording(titled(steps, [], picking(data))))
    assert sorted(c.kind for c in audited.conversations) == ["main", "side"]
