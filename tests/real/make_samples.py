"""Make recordings/samples/ anew, with real parts (.ci/parts) and the real recorder.

    PYTHONPATH=tests uv run python -m real.make_samples

What each of them has to show stands beside it in NAME.expected.json, which is not written here.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from real.faulty import faulty_proxy
from real.llama import llama_server
from real.parts import ROOT
from real.processes import free_port
from real.recorder import proxyaudit, recorder
from real.taps import tapped_opencode
from real.zorblax import chat

from proxyaudit.store.lines import to_line
from proxyaudit.store.read import open_recording

SAMPLES = ROOT / "recordings" / "samples"
FIRST = "Create notes.txt with three things to pack for a day at the lake."
SECOND = "Read notes.txt again and add what I forgot to pack for the evening."


def demo_dropped(folder: Path) -> Path:
    """The demo: a scripted agent, a proxy that keeps only the current turn from turn 4 on."""
    done = proxyaudit(folder, "demo", "--recordings", folder)
    assert done.code == 0, done
    return folder / "demo-drop-first-turns"


def opencode_clean(folder: Path) -> Path:
    """Two runs of opencode through nginx."""
    return _opencode(folder, None)


def opencode_dropped(folder: Path) -> Path:
    """The same through a proxy that drops the first run from the second one's requests."""
    return _opencode(folder, "drop-first-turns")


def _opencode(folder: Path, fault: str | None) -> Path:
    with tapped_opencode(folder, fault, from_turn=2, ours=(FIRST, SECOND)) as (_, taps, harness):
        harness.run(FIRST)
        harness.run("--continue", SECOND)
        taps.stop()
    return taps.folder


def smollm2_zorblax(folder: Path) -> Path:
    """Four questions to a small real model; the proxy forwards only the last of them."""
    port = free_port()
    tap = f"http://127.0.0.1:{port}"
    options = {"from_turn": 4, "side_requests": "true"}
    with (
        llama_server(folder / "llama") as server,
        faulty_proxy(folder / "proxy", tap, "drop-first-turns", **options) as proxy,
        recorder(folder / "recorded", proxy, backend=server, upstream_port=port) as taps,
    ):
        chat(taps.url)
        taps.stop()
    return taps.folder


MAKERS: dict[str, Callable[[Path], Path]] = {
    "demo-dropped": demo_dropped,
    "opencode-clean": opencode_clean,
    "opencode-dropped": opencode_dropped,
    "smollm2-zorblax": smollm2_zorblax,
}


def main(*names: str) -> None:
    """Make these samples, or all of them."""
    SAMPLES.mkdir(parents=True, exist_ok=True)
    for name in names or MAKERS:
        with tempfile.TemporaryDirectory(prefix="proxyaudit-sample-") as folder:
            recording = open_recording(MAKERS[name](Path(folder)))
        assert not recording.flaws, recording.flaws
        lines = b"".join(map(to_line, recording.exchanges))
        (SAMPLES / f"{name}.jsonl").write_bytes(lines)
        print(f"{name}: {len(recording.exchanges)} exchanges, {len(lines)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
