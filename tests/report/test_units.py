"""Times in few letters; a recording may hold any number for one."""

import re
from datetime import UTC

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Exchange, Request
from proxyaudit.report.live import exchange_line
from proxyaudit.report.units import clock, moment, seconds


@given(st.floats())
@example(1e13)
@example(1e300)
@example(-1e18)
@example(253402300799.9)
def test_no_number_is_too_odd_for_a_time(value: float) -> None:
    """Neither an exception nor hundreds of digits, in any zone."""
    for shown in (clock(value), clock(value, None), moment(value), seconds(value)):
        assert 0 < len(shown) < 40
    exchange = Exchange("e", "client", value, Request("GET", "http://h/"))
    assert "GET" in exchange_line(exchange)


def test_times_are_told_in_utc() -> None:
    assert clock(1_790_000_000.0) == clock(1_790_000_000.0, UTC) == "14:13:20"
    assert moment(1_790_000_000.0) == "2026-09-21 14:13:20 UTC"
    assert clock(1e13) == "–"
    assert moment(1e13) == "no date (1e+13)"
    assert re.fullmatch(r"\d\d:\d\d:\d\d", clock(1_790_000_000.0, None))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), (0.002, "2 ms"), (0.31, "0.31 s"), (1234.0, "1,234 s"), (1e300, "1e+300 s")],
)
def test_durations(value: float | None, shown: str) -> None:
    assert seconds(value) == shown
