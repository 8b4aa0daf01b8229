"""What the recorder costs, next to the same mitmproxy without it and to the stock tool.

    uv run python benchmarks/recorder.py [--quick] [--rounds N]

All subjects run in one go, in turns, so that whatever else the machine does falls on all of them.
Compare ratios of one run; times of two runs are not comparable. Prints a table, keeps nothing.
"""

import argparse
import asyncio
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.traffic import Load, Seen, one_round, serving

HERE = Path(__file__).parent
DIRECT, LEAN, OURS, STOCK = "direct", "mitmproxy, lean", "recorder", "mitmdump, stream=1"
QUICK = Load(requests=150, turns=20, streams=8, events=60, gap=0.02)
FULL = Load(requests=500, turns=60, streams=16, events=200, gap=0.02)


@dataclass(slots=True)
class Subject:
    """What stands between client and server, and what was seen through it."""

    name: str
    url: str
    pid: int | None = None
    rounds: list[Seen] = field(default_factory=list)

    def median(self, value: Callable[[Seen], float]) -> float:
        return statistics.median(map(value, self.rounds))

    def pooled(self, values: Callable[[Seen], Sequence[float]], share: float) -> float:
        """A quantile over all rounds."""
        ordered = sorted(value for seen in self.rounds for value in values(seen))
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--rounds", type=int, default=None)
    options = parser.parse_args()
    load = QUICK if options.quick else FULL
    rounds = options.rounds or (3 if options.quick else 7)
    subjects = asyncio.run(measured(load, rounds))
    print(f"{machine()}; {rounds} interleaved rounds of {load}\n")
    print(table(subjects))


async def measured(load: Load, rounds: int) -> list[Subject]:
    """Every subject in every round, each round beginning with another one."""
    async with serving() as upstream:
        with tempfile.TemporaryDirectory() as scratch, ExitStack() as open_:
            subjects = [Subject(DIRECT, upstream)]
            for name, command in commands(upstream, Path(scratch)):
                port = free_port()
                process = open_.enter_context(running([*command(port)], Path(scratch)))
                await listening(process, port)
                subjects.append(Subject(name, f"http://127.0.0.1:{port}", process.pid))
            warm = Load(requests=20, turns=2, streams=1, events=10, gap=0.0)
            for subject in subjects:
                await one_round(subject.url, warm, subject.pid)
            for number in range(rounds):
                print(f"round {number + 1} of {rounds}", file=sys.stderr)
                start = number % len(subjects)
                for subject in [*subjects[start:], *subjects[:start]]:
                    subject.rounds.append(await one_round(subject.url, load, subject.pid))
    return subjects


def commands(
    upstream: str, scratch: Path
) -> Iterator[tuple[str, Callable[[int], tuple[str, ...]]]]:
    """How each subject is started on a port."""
    yield LEAN, lambda port: (sys.executable, str(HERE / "lean.py"), upstream, str(port))
    yield (
        OURS,
        lambda port: (
            *(str(Path(sys.executable).with_name("proxyaudit")), "record"),
            *("--upstream", upstream, "--listen", f"127.0.0.1:{port}"),
            *("--recordings", str(scratch / "recordings")),
        ),
    )
    yield (
        STOCK,
        lambda port: (
            *(str(Path(sys.executable).with_name("mitmdump")), "-q"),
            *("--set", "stream_large_bodies=1", "--set", f"confdir={scratch}"),
            *("--mode", f"reverse:{upstream}@127.0.0.1:{port}"),
        ),
    )


@contextmanager
def running(command: list[str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


async def listening(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Wait until a subject takes connections."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    raise SystemExit(f"{process.args!r} does not start")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def machine() -> str:
    cores = len(os.sched_getaffinity(0))
    return f"Python {platform.python_version()}, {cores} cores, load {os.getloadavg()[0]:.1f}"


def table(subjects: Sequence[Subject]) -> str:
    """One row for each subject, in Markdown."""
    direct = subjects[0]
    lean = next(subject for subject in subjects if subject.name == LEAN)
    columns: dict[str, Callable[[Subject], str]] = {
        "": lambda s: s.name,
        "request p50 / p99 ms": lambda s: _quantiles(s, lambda seen: seen.small),
        "added p50 ms": lambda s: _added(s, direct, lambda seen: seen.small),
        "200 KB turn p50 / p99 ms": lambda s: _quantiles(s, lambda seen: seen.turn),
        "first event p50 / p99 ms": lambda s: _quantiles(s, lambda seen: seen.first),
        "event p50 / p99 ms": lambda s: _quantiles(s, lambda seen: seen.events),
        "20 MB down / up ms": lambda s: (
            f"{_ms(s.median(lambda r: r.down))} / {_ms(s.median(lambda r: r.up))}"
        ),
        "CPU µs a request": lambda s: _cpu(s, lean, lambda seen: seen.cpu_request),
        "CPU µs a turn": lambda s: _cpu(s, lean, lambda seen: seen.cpu_turn),
        "CPU µs an event": lambda s: _cpu(s, lean, lambda seen: seen.cpu_event),
    }
    lines = [list(columns), ["---"] * len(columns)]
    lines += [[column(subject) for column in columns.values()] for subject in subjects]
    note = f"(In brackets: times the CPU of `{LEAN}` in the same run.)"
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{note}"


def _quantiles(subject: Subject, values: Callable[[Seen], Sequence[float]]) -> str:
    return f"{_ms(subject.pooled(values, 0.5))} / {_ms(subject.pooled(values, 0.99))}"


def _added(subject: Subject, direct: Subject, values: Callable[[Seen], Sequence[float]]) -> str:
    if subject is direct:
        return "–"
    return _ms(subject.pooled(values, 0.5) - direct.pooled(values, 0.5))


def _cpu(subject: Subject, baseline: Subject, value: Callable[[Seen], float]) -> str:
    if subject.pid is None:
        return "–"
    used = subject.median(value)
    return f"{used * 1e6:.0f} ({used / baseline.median(value):.2f})"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f}" if seconds >= 0.01 else f"{seconds * 1e3:.2f}"


if __name__ == "__main__":
    main()
