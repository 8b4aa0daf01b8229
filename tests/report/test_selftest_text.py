"""What a user reads of a test of transparency."""

import json

from inline_snapshot import snapshot
from rich.console import Group

from proxyaudit.core.selftest import CheckResult, Interval, Pacing, SelftestDocument, verdict_of
from proxyaudit.report.console import plain
from proxyaudit.report.selftest_text import check_view, selftest_json, summary_view

FINE = CheckResult(id="body.large", proves="20 MB arrive unchanged", status="ok")
WARNED = CheckResult(
    id="response.trailers",
    proves="a body with trailers ends as it should, and whatever else a long sentence may say of it",
    status="warn",
    details=["the trailers were left out"],
)
FAILED = CheckResult(
    id="response.bytes",
    proves="answers arrive as they were sent",
    status="fail",
    details=[
        "the header 'X-Evil: \x1b]0;gone\x07\u202e' was added",
        "the header 'Date: Thu, 01 Jan 2026 00:00:00 GMT' became 'Date: Fri, 02 Jan 2026 00:00:00'",
    ],
)
SKIPPED = CheckResult(
    id="stream.chunks", proves="it flows", status="skip", details=["too slow"], judged=False
)
PACING = Pacing(
    first_byte=Interval(median=0.0041, low=0.0032, high=0.0057, pairs=12),
    chunk=Interval(median=0.00012, low=-0.00001, high=0.0002, pairs=12),
    direct_first_byte=0.0005,
    direct_chunk=0.00025,
)


def document(*checks: CheckResult, pacing: Pacing | None = None) -> SelftestDocument:
    return SelftestDocument(
        verdict=verdict_of(list(checks)),
        target="recorder",
        upstream=None,
        checks=list(checks),
        pacing=pacing,
    )


def shown(result: SelftestDocument) -> str:
    return plain(Group(*map(check_view, result.checks), summary_view(result)))


def test_all_is_well() -> None:
    assert shown(document(FINE, WARNED, pacing=PACING)) == snapshot("""\
[OK]   body.large: 20 MB arrive unchanged
[WARN] response.trailers: a body with trailers ends as it should, and whatever else a long
       sentence may say of it
       - the trailers were left out

added to the first byte: 4.10 ms [3.20 ms, 5.70 ms] (direct 0.50 ms)
added to each chunk:     0.12 ms [-0.01 ms, 0.20 ms] (direct 0.25 ms)
medians of 12 streams in pairs, 95 % bootstrap intervals

TRANSPARENT: the recorder passed 2 checks, with 1 warning
""")


def test_what_differs_is_told_and_cannot_speak_to_the_terminal() -> None:
    assert shown(document(FINE, FAILED, SKIPPED)) == snapshot("""\
[OK]   body.large: 20 MB arrive unchanged
[FAIL] response.bytes: answers arrive as they were sent
       - the header 'X-Evil: \\x1b]0;gone\\a\\u202e' was added
       - the header 'Date: Thu, 01 Jan 2026 00:00:00 GMT' became 'Date: Fri, 02 Jan 2026
         00:00:00'
[SKIP] stream.chunks: it flows
       - too slow

NOT TRANSPARENT: the recorder can be noticed: 1 of 3 checks failed
""")


def test_what_could_not_be_made_leaves_it_open() -> None:
    assert shown(document(FINE, SKIPPED)) == snapshot("""\
[OK]   body.large: 20 MB arrive unchanged
[SKIP] stream.chunks: it flows
       - too slow

INCONCLUSIVE: not every check of the recorder could be made
""")


def test_json_holds_all_of_it() -> None:
    text = selftest_json(document(FAILED, pacing=PACING))
    assert "\x1b" not in text
    assert "\u202e" not in text
    value = json.loads(text)
    assert SelftestDocument.model_validate(value) == document(FAILED, pacing=PACING)
    assert (value["schema"], value["verdict"]) == ("proxyaudit.selftest/1", "not transparent")
