"""Rules over a whole recording: both taps are looked at, and told apart request by request."""

import json

import pytest

from proxyaudit.core.exchange import Exchange, Request, Response, Tap
from proxyaudit.core.recording import Recording
from proxyaudit.engine import audit
from proxyaudit.rules.base import all_rules

RULES = [rule for rule in all_rules() if rule.name == "cache.stale_response"]


def seen(tap: Tap, number: int, question: str, reply_id: str) -> Exchange:
    body = {"model": "m", "messages": [{"role": "user", "content": question}]}
    message = {"role": "assistant", "content": "Noted: three rakes."}
    said = {
        "id": reply_id,
        "model": "m",
        "choices": [{"message": message, "finish_reason": "stop"}],
    }
    start = 100.0 * number + (0.0 if tap == "client" else 0.001)
    return Exchange(
        f"{number}-{tap}",
        tap,
        start,
        Request("POST", "http://model.test/v1/chat/completions", (), json.dumps(body).encode()),
        Response(200, (), json.dumps(said).encode(), ended_at=1.0 if tap == "client" else 0.9),
    )


CLIENT = [seen("client", 1, "How many rakes?", "r-1"), seen("client", 2, "And spades?", "r-1")]


@pytest.mark.parametrize(
    ("upstream", "suspect"),
    [
        ([], "upstream"),
        ([seen("upstream", 1, "How many rakes?", "r-1")], "proxy"),
        (
            [
                seen("upstream", 1, "How many rakes?", "r-1"),
                seen("upstream", 2, "And spades?", "r-2"),
            ],
            "proxy",
        ),
        (
            [
                seen("upstream", 1, "How many rakes?", "r-1"),
                seen("upstream", 2, "And spades?", "r-1"),
            ],
            "server",
        ),
    ],
)
def test_who_served_it_again(upstream: list[Exchange], suspect: str) -> None:
    exchanges = sorted([*CLIENT, *upstream], key=lambda e: e.started_at)
    report = audit(Recording("r", tuple(exchanges)), RULES).report
    assert [(f.rule, f.suspect) for f in report.findings] == [("cache.stale_response", suspect)]
    assert report.findings[0].places[0].exchange == "2-client"


def test_the_upstream_tap_alone_shows_the_server_s_fault() -> None:
    exchanges = [seen("upstream", 1, "Rakes?", "r-1"), seen("upstream", 2, "Spades?", "r-1")]
    report = audit(Recording("r", tuple(exchanges)), RULES).report
    assert [f.suspect for f in report.findings] == ["server"]
