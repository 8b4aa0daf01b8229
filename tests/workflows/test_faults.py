"""Every fault of the demo, through real sockets: found by its rule, blamed on the proxy.

One backend, one pair of taps, one faulty proxy in a process of its own; each session gets the fault
that its label names, and is audited alone.
"""

import asyncio
from pathlib import Path

import pytest

from proxyaudit.core.exchange import header
from proxyaudit.core.recording import Recording
from proxyaudit.core.report import Report
from proxyaudit.demo.agent import run_agent
from proxyaudit.demo.backend import Backend
from proxyaudit.demo.faults import FAULTS, Fault
from proxyaudit.demo.story import demo_script
from proxyaudit.engine import audit
from proxyaudit.store.read import open_recording
from proxyaudit.workflows.demo import faulty_proxy, free_ports
from proxyaudit.workflows.record import Setup, Taps, record

SCRIPT = Path(__file__).parent.parent / "faults_by_session.py"
AT_ONCE = 8


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    """A recording for each fault, by its name."""
    folder = tmp_path_factory.mktemp("faults") / "all"
    asyncio.run(_record(folder))
    whole = open_recording(folder)
    return {fault.name: _of_session(whole, fault.name) for fault in FAULTS}


async def _record(folder: Path) -> None:
    port, upstream_port = free_ports(2)
    stop = asyncio.Event()
    opened: asyncio.Future[Taps] = asyncio.get_running_loop().create_future()
    async with Backend(demo_script, gap=0.015) as backend:
        setup = Setup(
            f"http://127.0.0.1:{port}",
            folder,
            backend.url,
            backend_listen=("127.0.0.1", upstream_port),
        )
        proxy = faulty_proxy("", f"http://127.0.0.1:{upstream_port}", port, SCRIPT)
        async with proxy, asyncio.TaskGroup() as group:
            group.create_task(record(setup, stop=stop, on_open=opened.set_result))
            base = f"{(await opened).client}/v1"
            gate = asyncio.Semaphore(AT_ONCE)

            async def play(fault: Fault) -> None:
                async with gate:
                    await run_agent(base, session=fault.name)

            async with asyncio.TaskGroup() as agents:
                for fault in FAULTS:
                    agents.create_task(play(fault))
            stop.set()


def _of_session(whole: Recording, name: str) -> Recording:
    kept = [e for e in whole.exchanges if header(e.request.headers, "x-session-id") == name]
    return Recording(name, tuple(kept), whole.assume, whole.flaws)


def alarms(report: Report) -> list[str]:
    return [f"{f.rule} ({f.suspect})" for f in report.findings if f.severity != "info"]


@pytest.mark.parametrize("fault", FAULTS, ids=[f.name for f in FAULTS])
def test_fault(fault: Fault, recorded: dict[str, Recording]) -> None:
    """The intended rule finds it and blames the proxy; `none` comes out clean."""
    report = audit(recorded[fault.name]).report
    assert report.flaws == []
    found = alarms(report)
    if fault.expected_rule is None:
        assert found == []
        assert report.verdict == "clean"
    else:
        assert f"{fault.expected_rule} (proxy)" in found
        assert report.findings[0].suspect == "proxy"
