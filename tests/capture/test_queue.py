"""The writer's thread."""

import sys
import threading
from collections.abc import Iterator

import pytest

from proxyaudit.capture.queue import SWITCH_INTERVAL, SinkThread
from proxyaudit.core.exchange import Exchange, Request


class Threads:
    """A sink that notes in which thread it is called, and with which exchange."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, int]] = []

    def request(self, exchange: Exchange) -> None:
        self.calls.append(("request", exchange.id, threading.get_ident()))

    def response(self, exchange: Exchange) -> None:
        self.calls.append(("response", exchange.id, threading.get_ident()))


def exchange(id_: str) -> Exchange:
    return Exchange(id_, "client", 0.0, Request("POST", "http://tap/"))


@pytest.fixture
def usual_interval() -> Iterator[float]:
    """Python's own switch interval, whatever ran before."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield sys.getswitchinterval()
    sys.setswitchinterval(before)


def test_the_event_loop_does_not_wait_long_for_the_writer(usual_interval: float) -> None:
    """Threads take turns more often while there is a writer, and as before when it has ended."""
    thread = SinkThread(Threads())
    assert sys.getswitchinterval() == usual_interval
    thread.put("request", lambda: exchange("1"))
    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL, abs=1e-6)
    thread.close()
    assert sys.getswitchinterval() == usual_interval
    thread.close()
    assert sys.getswitchinterval() == usual_interval


def test_no_line_no_thread() -> None:
    """Closing what was never used does nothing."""
    before = threading.active_count()
    thread = SinkThread(Threads())
    assert threading.active_count() == before
    thread.close()
    assert thread.lost == 0


def test_lines_are_made_and_written_in_order_in_one_other_thread() -> None:
    """Building an exchange joins its chunks: that is the writer's work as well."""
    sink, built = Threads(), list[int]()

    def build(id_: str) -> Exchange:
        built.append(threading.get_ident())
        return exchange(id_)

    thread = SinkThread(sink)
    for number in range(20):
        thread.put("request", lambda id_=str(number): build(id_))  # type: ignore[misc]
        thread.put("response", lambda id_=str(number): build(id_))  # type: ignore[misc]
    thread.close()
    assert [call[:2] for call in sink.calls] == [
        (phase, str(number)) for number in range(20) for phase in ("request", "response")
    ]
    assert len({ident for *_, ident in sink.calls} | set(built)) == 1
    assert threading.get_ident() not in built


def test_line_that_cannot_be_made_is_lost_alone() -> None:
    """It is counted, and the next one is written."""
    sink, thread = Threads(), None

    def broken() -> Exchange:
        raise MemoryError("no room to join the chunks")

    thread = SinkThread(sink)
    thread.put("response", broken)
    thread.put("response", lambda: exchange("next"))
    thread.close()
    assert [call[1] for call in sink.calls] == ["next"]
    assert thread.lost == 1
    assert isinstance(thread.problem, MemoryError)
