"""The report as JSON."""

import json

from proxyaudit.core.report import Report, ReportedFinding, ReportedPlace
from proxyaudit.report.json import report_json, to_json
from proxyaudit.report.safe import is_harmful


def test_one_report_for_each_input_under_one_schema() -> None:
    reports = [Report(target="a", verdict="clean"), Report(target="b", verdict="inconclusive")]
    document = json.loads(report_json(reports))
    assert document["schema"] == "proxyaudit.report/1"
    assert [(r["target"], r["verdict"]) for r in document["reports"]] == [
        ("a", "clean"),
        ("b", "inconclusive"),
    ]


def test_evidence_comes_through_unchanged_and_harmless() -> None:
    """Even what no terminal and no strict JSON could take: escapes, halves of letters."""
    text = "\x1b[2J \x9b \u202e \ud800 “naïve”"
    finding = ReportedFinding(
        rule="message.dropped",
        severity="error",
        confidence="certain",
        suspect="proxy",
        message="m",
        places=[ReportedPlace(exchange="e", side="client.request", pointer="")],
        evidence={"text": text},
    )
    document = report_json([Report(target="a", verdict="findings", findings=[finding])])
    assert not any(is_harmful(char) for char in document)
    assert "“naïve”" in document
    assert json.loads(document)["reports"][0]["findings"][0]["evidence"]["text"] == text


def test_numbers_that_json_lacks_become_text() -> None:
    """A body may hold 1e999, and a report is read by strict parsers."""
    assert json.loads(to_json({"a": float("inf"), "b": [float("nan")]})) == {
        "a": "inf",
        "b": ["nan"],
    }
