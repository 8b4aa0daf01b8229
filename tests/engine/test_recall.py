"""Every fault put at a random place into a random clean conversation is found there.

`tests/injected*.py` has the faults, a few of each kind; whoever is suspected has to be right, too.
`benchmarks/recall.py` counts over many more conversations.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from injected import FAULTS
from injecting import Pick, judge
from shared import SHARED
from stories import EXAMPLES, Step, stories


@pytest.mark.parametrize("name", FAULTS)
@given(steps=stories(least=3), data=st.data())
@settings(max_examples=max(1, EXAMPLES // 2))
def test_a_fault_is_found_at_its_place(name: str, steps: list[Step], data: st.DataObject) -> None:
    fault = FAULTS[name]
    injected = fault.inject(steps, Pick(lambda options: data.draw(st.sampled_from(options))))
    if injected is None:
        return
    outcome, report = judge(fault, injected)
    told = [
        (f.rule, f.severity, f.suspect, [p.exchange for p in f.places]) for f in report.findings
    ]
    assert outcome == "at the place", f"{fault.kind} at {injected.where}, told was: {told}"


@pytest.mark.skipif(not SHARED.exists(), reason="no list of kinds beside this checkout")
def test_every_kind_has_a_fault() -> None:
    kinds = json.loads((SHARED / "corpus" / "kinds.json").read_text("utf-8"))
    assert set(kinds) <= {fault.kind for fault in FAULTS.values()}
