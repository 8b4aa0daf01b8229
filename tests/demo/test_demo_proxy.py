"""The faulty proxy as people run it: a real mitmdump with the script, between agent and backend."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from proxyaudit.demo.agent import AgentLog, run_agent
from proxyaudit.demo.backend import Backend
from proxyaudit.demo.story import USER_TURNS, demo_script

SCRIPT = Path(__file__).parents[2] / "addons" / "faults.py"
TURNS = USER_TURNS[:4]
_MITMDUMP = "from mitmproxy.tools.main import mitmdump; mitmdump()"


@asynccontextmanager
async def _proxy(fault: str, upstream: str) -> AsyncIterator[str]:
    settings = ("--set", f"fault={fault}", "--set", "connection_strategy=lazy")
    mode = ("--mode", f"reverse:{upstream}@127.0.0.1:0")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-c", _MITMDUMP, "-s", str(SCRIPT), *settings, *mode),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        async with asyncio.timeout(30):
            while line := await process.stdout.readline():
                if found := re.search(rb"listening at .*:(\d+)", line):
                    yield f"http://127.0.0.1:{int(found[1])}"
                    return
        raise AssertionError("mitmdump ended before it listened")
    finally:
        process.kill()
        await process.communicate()


def _play(fault: str) -> tuple[AgentLog, list[bytes]]:
    async def run() -> tuple[AgentLog, list[bytes]]:
        async with (
            Backend(demo_script, gap=0.004) as backend,
            _proxy(fault, backend.url) as url,
        ):
            return await run_agent(f"{url}/v1", turns=TURNS), [r.body for r in backend.received]

    return asyncio.run(run())


def _sent(log: AgentLog) -> list[bytes]:
    return [sent.body for turn in log.turns for sent in turn.sent]


def test_a_sound_proxy_passes_bytes_and_events_one_by_one() -> None:
    log, received = _play("none")
    assert "2 X X O" in log.final_text
    assert received[1:] == _sent(log)
    for turn in log.turns:
        for sent in turn.sent:
            times = [at for at, _ in sent.answer.reads]
            assert times[-1] - times[0] > 0.002 * len(times)


def test_a_broken_stream_is_asked_for_again_and_breaks_again() -> None:
    log = _play("break-stream")[0]
    assert log.stopped is None
    last = log.turns[-1].sent
    assert [sent.answer.ended for sent in last] == ["cut", "cut"]
    assert [sent.reply.finish for sent in last] == [None, None]
    assert log.turns[-2].sent[0].reply.finish == "stop"


def test_a_buffered_stream_comes_in_one_burst() -> None:
    log, received = _play("buffer-stream")
    assert received[1:] == _sent(log)
    times = [at for at, _ in log.turns[-1].sent[-1].answer.reads]
    assert times[0] > 0.004 * 10
    assert times[-1] - times[0] < times[0]
