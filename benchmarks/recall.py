"""What an audit finds, by kind, and what it alarms falsely: `uv run python benchmarks/recall.py`.

Random conversations of an agent, as bytes, into which one fault each is put at a random place
(`tests/injected*.py`, the faults of the tests), and others that a client lawfully changed. `-n` is
how many of each; `--only WORD` takes the faults with that word in their name or kind. *Found
there*: by the rule of its kind, at the exchange where it is, with the right suspect.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from math import sqrt
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from injected import FAULTS
from injecting import Fault, Pick, judge
from lawful import LAWFUL, Lawful
from stories import Step, recording, stories

from proxyaudit.engine import audit

type Row = tuple[str, ...]


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """The interval, at 95 %, in which the true share is; (0, 1) if nothing was tried."""
    if not of:
        return 0.0, 1.0
    share = hits / of
    middle = share + z * z / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    below = 1 + z * z / of
    return max(0.0, (middle - spread) / below), min(1.0, (middle + spread) / below)


def plays(number: int, play: Callable[[list[Step], list[Step], Pick], None]) -> None:
    """Play with so many pairs of random stories; the same ones every time."""

    def picking(steps: list[Step], other: list[Step], data: st.DataObject) -> None:
        play(steps, other, Pick(lambda options: data.draw(st.sampled_from(options))))

    drawn = given(stories(least=3), stories(), st.data())(picking)
    limits = settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    seed(1)(limits(drawn))()


def recall(fault: Fault, number: int, *, show: bool = False) -> Counter[str]:
    """How often the fault was found, and how."""
    outcomes: Counter[str] = Counter()

    def play(steps: list[Step], other: list[Step], pick: Pick) -> None:
        injected = fault.inject(steps, pick)
        if injected is None:
            return
        outcome, report = judge(fault, injected)
        outcomes[outcome] += 1
        if show and outcome != "at the place":
            print(f"{outcome}: {injected.where}", file=sys.stderr)
            for f in report.findings:
                told = [f"{p.exchange} {p.pointer}" for p in f.places[:2]]
                print(f"  {f.severity} {f.rule} {f.suspect} {told} {f.message}", file=sys.stderr)

    plays(number, play)
    return outcomes


def recalled(name: str, outcomes: Counter[str]) -> Row:
    total, hits = outcomes.total(), outcomes["at the place"]
    low, high = wilson(hits, total)
    others = outcomes["elsewhere"] + outcomes["another suspect"]
    share = f"{hits / total:.2f}" if total else "–"
    return (name, str(total), str(hits), str(others), share, f"{low:.2f} to {high:.2f}")


def by_kind(found: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    """The outcomes of all faults of a kind together."""
    kinds: dict[str, Counter[str]] = {}
    for name, outcomes in found.items():
        kinds.setdefault(FAULTS[name].kind, Counter()).update(outcomes)
    return kinds


def alarms(lawful: Lawful, number: int, *, show: bool = False) -> Counter[str]:
    """How many lawful conversations were alarmed, and how many were not."""
    outcomes: Counter[str] = Counter()

    def play(steps: list[Step], other: list[Step], pick: Pick) -> None:
        report = audit(recording(lawful(steps, other, pick))).report
        told = [f.message for f in report.findings if f.severity != "info"]
        outcomes["alarmed" if told else "quiet"] += 1
        if show and told:
            print(f"alarmed: {told}", file=sys.stderr)

    plays(number, play)
    return outcomes


def alarmed(name: str, outcomes: Counter[str]) -> Row:
    total, hits = outcomes.total(), outcomes["alarmed"]
    return (name, str(total), str(hits), f"{wilson(hits, total)[1]:.3f}")


def table(heads: Row, rows: list[Row]) -> None:
    """As Markdown, ready to be kept."""
    print(f"| {' | '.join(heads)} |")
    print(f"|{' --- |' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("-n", type=int, default=40, help="stories for each fault")
    options.add_argument("--only", default="", help="faults with this in their name or kind")
    options.add_argument("--each", action="store_true", help="a row for each fault, not each kind")
    options.add_argument("--show", action="store_true", help="what was told instead, on stderr")
    chosen = options.parse_args()
    start = time.monotonic()
    faults = {n: f for n, f in FAULTS.items() if chosen.only in f"{f.kind} {n}"}
    found = {n: recall(f, chosen.n, show=chosen.show) for n, f in faults.items()}
    kinds = by_kind(found)
    shown = {f"{faults[n].kind}: {n}": o for n, o in found.items()} if chosen.each else kinds
    heads = ("kind", "injected", "found there", "found otherwise", "recall", "95 %")
    table(heads, sorted(recalled(name, outcomes) for name, outcomes in shown.items()))
    hits = sum(outcomes["at the place"] for outcomes in found.values())
    total = sum(outcomes.total() for outcomes in found.values())
    print(f"{hits} of {total} found at their places: {len(faults)} faults of {len(kinds)} kinds.\n")
    if not chosen.only:
        quiet = {n: alarms(c, chosen.n, show=chosen.show) for n, c in LAWFUL.items()}
        table(
            ("lawful change", "conversations", "alarmed", "at most (95 %)"),
            [alarmed(n, outcomes) for n, outcomes in quiet.items()],
        )
        number = sum(outcomes.total() for outcomes in quiet.values())
        false = sum(outcomes["alarmed"] for outcomes in quiet.values())
        below = wilson(false, number)[1]
        print(f"{false} of {number} alarmed; at most {below:.4f} of such conversations are.")
    print(f"Took {time.monotonic() - start:.0f} s.", file=sys.stderr)


if __name__ == "__main__":
    main()
