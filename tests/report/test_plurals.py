"""One of a thing is told in the singular, wherever things are counted."""

from collections import Counter
from pathlib import Path

from chat_lines import ASK, EPOCH, NAME

from proxyaudit.cli.record import _counted
from proxyaudit.core.exchange import Chunk, Exchange, Request, Response, Tap
from proxyaudit.core.report import ReportedFinding, ReportedPlace
from proxyaudit.report.background import Background
from proxyaudit.report.console import plain
from proxyaudit.report.findings import finding_block
from proxyaudit.report.import_text import ImportedFile, import_text
from proxyaudit.report.json import to_json
from proxyaudit.report.live import exchange_line
from proxyaudit.report.parts import quotation
from proxyaudit.workflows.record import Summary


def _exchange(messages: list[dict[str, str]], pieces: int) -> Exchange:
    body = to_json({"model": "m", "messages": messages}).encode()
    request = Request("POST", "http://h/v1/chat/completions", (), body)
    chunks = tuple(Chunk(0.1, 1) for _ in range(pieces))
    return Exchange("e", "client", EPOCH, request, Response(200, chunks=chunks, ended_at=0.2))


def _seen(number: int) -> Counter[Tap]:
    return Counter({"client": number})


def test_a_line_of_the_recorder() -> None:
    assert " · 1 message  " in (line := exchange_line(_exchange([NAME], 1)))
    assert "  1 chunk, first " in line
    assert " · 2 messages  " in (line := exchange_line(_exchange([NAME, ASK], 2)))
    assert "  2 chunks, first " in line


def test_the_summary_of_the_recorder() -> None:
    one = Summary(Path("r"), exchanges=_seen(1), turns=_seen(1))
    assert _counted(one) == "Recorded 1 exchange at the client tap (1 turn among them) in r"
    more = Summary(Path("r"), exchanges=_seen(2))
    assert _counted(more) == "Recorded 2 exchanges at the client tap (0 turns among them) in r"


def test_more_findings_like_one() -> None:
    def block(times: int) -> str:
        place = ReportedPlace(exchange="e", side="client.request", pointer="/messages")
        finding = ReportedFinding(
            rule="message.dropped",
            severity="error",
            suspect="proxy",
            confidence="certain",
            message="lost",
            places=[place],
            evidence={"also": ["lost again"], "times": times},
        )
        return plain(finding_block(finding, Background()))

    assert "… and 1 more like this\n" in block(3)
    assert "… and 2 more like these\n" in block(4)


def test_what_is_left_out_of_a_quotation() -> None:
    assert "… 1 line …" in quotation("\n".join("abcdefghijklm")).plain
    assert "… 2 lines …" in quotation("\n".join("abcdefghijklmn")).plain
    assert "… 1 character …" in quotation("x" * 11, 10).plain


def test_more_reasons_of_an_import() -> None:
    def shown(reasons: int) -> str:
        other = Counter({f"reason {n}": 1 for n in range(reasons)})
        one = ImportedFile("a.har", "har", _seen(reasons), 0, other)
        return plain(import_text([one], None))

    assert "and 1 more reason\n" in shown(11)
    assert "and 2 more reasons\n" in shown(12)
