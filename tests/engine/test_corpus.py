"""Every case of the fault corpus in the families that are built, and no alarm on lawful traffic."""

from pathlib import Path

import pytest
from shared import CASES, as_recording, case, misses, needs_cases

from proxyaudit.engine import audit
from proxyaudit.rules.base import all_rules
from proxyaudit.store.read import open_recording

BUILT = {rule.name for rule in all_rules()}


@needs_cases
@pytest.mark.parametrize("path", CASES, ids=[p.stem for p in CASES])
def test_case(path: Path, tmp_path: Path) -> None:
    """The fault is found with the right suspect, and nothing else is alarmed."""
    wanted = case(path)
    missing = {f["kind"] for f in wanted["expect"]["findings"]} - BUILT
    recording = tmp_path / f"{path.stem}.jsonl"
    recording.write_text(as_recording(path), encoding="utf-8")
    audited = audit(open_recording(recording))
    assert audited.report.flaws == []
    problems = misses(wanted, audited.report.model_dump_json())
    if missing:
        assert not [p for p in problems if not p.startswith("missing")]
        pytest.skip(f"no rule yet for {', '.join(sorted(missing))}")
    assert problems == []
