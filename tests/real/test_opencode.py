"""Real opencode through two taps and a proxy between them: is the culprit found, and only then?"""

import re
from pathlib import Path
from typing import Any

import pytest
from real.opencode import Opencode
from real.recorder import audited, proxyaudit
from real.taps import tapped_opencode

from proxyaudit.demo.backend import Backend

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

FIRST = "Create notes.txt with three things to pack for a day at the lake."
SECOND = "Read notes.txt and add what is missing for the evening."
THIRD = "Write to log.txt what I asked you earlier."


def three_runs(harness: Opencode, backend: Backend) -> str:
    """A session of three processes; returns what the last one said."""
    harness.run(FIRST)
    harness.run("--continue", SECOND)
    session = backend.received[0].head.get("x-session-id")
    return harness.run("-s", session, THIRD).out


def serious(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [f for f in report["findings"] if f["severity"] != "info"]


def test_a_session_through_nginx_is_recorded_byte_for_byte_and_comes_out_clean(
    tmp_path: Path,
) -> None:
    """Nothing is lost on a good path, nothing is reported, and the threads are told apart."""
    with tapped_opencode(tmp_path) as (backend, taps, harness):
        three_runs(harness, backend)
        harness.run("Create other.txt with the name of a lake.")
        summary = taps.stop()
    assert summary.code == 0, summary
    assert f"proxyaudit audit {taps.folder}" in summary.out + summary.err, "what to type next"
    sent = sorted(r.body for r in backend.received if r.method == "POST")
    for tap in ("client", "upstream"):
        assert sorted(e.request.body for e in taps.exchanges(tap)) == sent, tap
    assert (harness.work / "log.txt").read_text("utf-8").count("request ") == 3

    code, report = audited(taps)
    assert (code, report["verdict"], serious(report)) == (0, "clean", [])
    mains = [c for c in report["conversations"] if c["kind"] == "main"]
    sides = [c for c in report["conversations"] if c["kind"] == "side"]
    assert [c["turns"] for c in mains] == [9, 3]
    assert [c["parent"] for c in sides] == [c["id"] for c in mains], "a title for each"


def test_a_proxy_that_forgets_the_first_turns_of_opencode_is_blamed(tmp_path: Path) -> None:
    """The harness sent all of its history; the verdict names the proxy and the turn."""
    with tapped_opencode(tmp_path, "drop-first-turns") as (backend, taps, harness):
        said = three_runs(harness, backend)
        taps.stop()
    assert "very first message" in said

    code, report = audited(taps)
    found = serious(report)
    assert (code, report["verdict"]) == (1, "findings")
    assert {f["suspect"] for f in found} == {"proxy"}, found
    dropped = [f for f in found if f["rule"] == "message.dropped"]
    # Two runs of three requests each went before.
    assert dropped[0]["turn"] == 7
    assert {p["side"] for f in dropped for p in f["places"]} == {"upstream.request"}

    text = proxyaudit(tmp_path, "audit", taps.folder)
    assert text.code == 1
    assert re.search(r"proxy\b.*\bturn 7\b", text.out.splitlines()[0]), text.out
