"""The sample recordings: each has to be read without a flaw, and judged as it says beside it."""

import json
from pathlib import Path

import pytest

from proxyaudit.core.exchange import header
from proxyaudit.core.finding import at_least
from proxyaudit.core.json import JSON
from proxyaudit.engine import audit
from proxyaudit.store.read import open_recording

SAMPLES = Path(__file__).parents[1] / "recordings" / "samples"
NAMES = sorted(path.name.removesuffix(".jsonl") for path in SAMPLES.glob("*.jsonl"))
LARGEST = 150_000


def test_every_sample_has_its_expectation_and_none_is_missing() -> None:
    """A sample without expectations would be a fixture that checks nothing."""
    expected = {path.name.removesuffix(".expected.json") for path in SAMPLES.glob("*.json")}
    assert set(NAMES) == expected
    assert len(NAMES) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_judged_as_expected(name: str) -> None:
    """Verdict, conversations, and the findings at warn or error with suspect and turn."""
    recording = open_recording(SAMPLES / f"{name}.jsonl")
    assert not recording.flaws
    report = audit(recording).report
    found: JSON = {
        "verdict": report.verdict,
        "conversations": [{"kind": c.kind, "turns": c.turns} for c in report.conversations],
        "findings": [
            {"rule": f.rule, "severity": f.severity, "suspect": f.suspect, "turn": f.turn}
            for f in report.findings
            if at_least(f.severity, "warn")
        ],
    }
    assert found == json.loads((SAMPLES / f"{name}.expected.json").read_text("utf-8"))
    assert not [c for c in report.checked if c.broke]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_small_and_holds_both_taps_and_no_secret(name: str) -> None:
    """People are to read it, and anybody may."""
    path = SAMPLES / f"{name}.jsonl"
    assert path.stat().st_size < LARGEST
    exchanges = open_recording(path).exchanges
    assert {e.tap for e in exchanges} == {"client", "upstream"}
    secrets = [header(e.request.headers, "authorization") for e in exchanges]
    assert all(s is None or s.startswith("Bearer [redacted sha256:") for s in secrets)
