"""The watch behind a recorder: what it tells whom, and that it never holds anybody up."""

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from loopback import serving
from stories import Json, Step, exchange
from tapped import connected, eventually, post

from proxyaudit.core.exchange import Exchange
from proxyaudit.engine.watch import Alert, Seen, Watcher
from proxyaudit.workflows.record import Setup, Taps, record
from proxyaudit.workflows.watch import Both, Watch

SYSTEM: Json = {"role": "system", "content": "You keep a shed."}


@dataclass
class Heard:
    """A listener that keeps what it is told; `gate` holds it up."""

    alerts: list[Alert] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    closed: bool = False
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def alerted(self, alert: Alert) -> None:
        self.alerts.append(alert)

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None:
        self.gate.wait(20)
        self.exchanges.append(exchange)
        self.seen += turns

    def tick(self) -> None: ...

    def close(self) -> None:
        self.closed = True


class Deaf(Heard):
    """A listener that breaks whatever it is told."""

    def alerted(self, alert: Alert) -> None:
        raise RuntimeError("deaf")

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None:
        raise RuntimeError("deaf")


def steps(turns: int) -> list[Step]:
    history: list[Json] = [SYSTEM]
    made = []
    for n in range(turns):
        history.append({"role": "user", "content": f"question {n} about rake number {n}?"})
        reply = {"role": "assistant", "content": f"Rake {n} hangs at hook {n}, behind the door."}
        made.append(Step({"model": "m", "messages": list(history)}, reply))
        history.append(reply)
    return made


def forgetful(step: Step) -> Json:
    messages = step.body["messages"]
    return {**step.body, "messages": [messages[0], *messages[4:]]}


def feed(watch: Watch, made: Exchange) -> None:
    watch.request(replace(made, response=None))
    watch.response(made)


def test_listeners_hear_of_alarms_and_ends_in_order() -> None:
    heard = Heard()
    watch = Watch(Watcher(), [Deaf(), heard])
    watch.start()
    *good, last = steps(4)
    for n, step in enumerate(good):
        feed(watch, exchange(step.body, step.reply, n))
    feed(watch, exchange(forgetful(last), last.reply, 3))
    watch.close()
    assert heard.closed
    assert [a.finding.rule for a in heard.alerts if a.finding.severity == "error"] == [
        "message.dropped"
    ]
    assert [(s.conversation, s.number) for s in heard.seen] == [("c1", n) for n in (1, 2, 3, 4)]
    assert len(heard.exchanges) == 4
    assert watch.missed == watch.waiting == 0


@pytest.mark.parametrize("limit", [{"most": 4}, {"room": 2000}])
def test_what_does_not_fit_is_left_out_and_nobody_waits(limit: dict[str, int]) -> None:
    """A listener hangs; feeding goes on at once, and what was left out is counted."""
    heard = Heard()
    heard.gate.clear()
    watch = Watch(Watcher(), [heard], **limit)
    watch.start()
    (step,) = steps(1)
    for n in range(20):
        feed(watch, exchange(step.body, step.reply, n))
    missed = watch.missed
    assert missed > 10
    heard.gate.set()
    watch.close()
    assert len(heard.exchanges) < 20
    assert watch.missed == missed


def test_a_large_body_is_not_parsed_but_its_end_is_told() -> None:
    heard = Heard()
    watch = Watch(Watcher(), [heard], large=500)
    watch.start()
    (step,) = steps(1)
    large = {**step.body, "user": "x" * 1000}
    feed(watch, exchange(large, step.reply, 0))
    feed(watch, exchange(step.body, step.reply, 1))
    watch.close()
    assert [e.id for e in heard.exchanges] == ["0-client", "1-client"]
    assert [s.turn.id for s in heard.seen] == ["1-client"]
    assert watch.missed == 1


def test_a_watch_that_fails_leaves_the_writer_alone() -> None:
    class Broken:
        def request(self, exchange: Exchange) -> None:
            raise RuntimeError("no")

        response = request

    class Writer:
        def __init__(self) -> None:
            self.lines: list[str] = []

        def request(self, exchange: Exchange) -> None:
            self.lines.append("request")

        def response(self, exchange: Exchange) -> None:
            self.lines.append("response")

    writer = Writer()
    both = Both(Broken(), writer)
    (step,) = steps(1)
    made = exchange(step.body, step.reply, 0)
    both.request(made)
    both.response(made)
    assert writer.lines == ["request", "response"]


def test_the_alarm_comes_before_the_model_has_answered(tmp_path: Path) -> None:
    """On real sockets: the server keeps its last answer back until the alarm has been given."""
    heard = Heard()
    watch = Watch(Watcher(), [heard])
    story = steps(3)
    told: list[bool] = []

    def reply(step: Step) -> bytes:
        choice = {"index": 0, "message": step.reply, "finish_reason": "stop"}
        body = json.dumps({"id": "r", "model": "m", "choices": [choice]}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def at_once(writer: asyncio.StreamWriter) -> None:
        writer.write(reply(story[len(heard.exchanges)]))

    async def after_the_alarm(writer: asyncio.StreamWriter) -> None:
        await eventually(lambda: any(a.finding.severity == "error" for a in heard.alerts))
        told.append(heard.alerts[-1].early)
        writer.write(reply(story[2]))

    async def run() -> None:
        stop = asyncio.Event()
        taps: list[Taps] = []
        async with serving(at_once, at_once, after_the_alarm) as server:
            setup = Setup(server.url, tmp_path / "made")
            recording = asyncio.ensure_future(
                record(setup, stop=stop, on_open=taps.append, watch=watch)
            )
            await eventually(lambda: taps)
            watch.start()
            async with connected(int(taps[0].client.rpartition(":")[2])) as client:
                for n, step in enumerate(story):
                    body = forgetful(step) if n == 2 else step.body
                    await client.send(post(json.dumps(body).encode()))
                    await client.answer()
                    await eventually(lambda n=n: len(heard.exchanges) == n + 1)
            stop.set()
            summary = await recording
            assert summary.exchanges["client"] == 3
        watch.close()

    asyncio.run(run())
    assert told == [True]
    assert watch.lost() == watch.unwritten() == 0
