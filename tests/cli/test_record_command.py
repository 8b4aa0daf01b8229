"""`proxyaudit record` as a user runs it: a process that listens until it is told to stop."""

import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from loopback import Server, plain, serving
from tapped import connected, eventually, post

from proxyaudit.cli.record import _address, _warn_if_open
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange, Request, Response
from proxyaudit.report.live import empty_reasons, exchange_line
from proxyaudit.store.read import open_recording

COMMAND = (sys.executable, "-m", "proxyaudit.cli.main", "record")
TURN = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "ho"}, "finish_reason": "stop"}
ANSWER = plain(json.dumps({"id": "c", "model": "m", "choices": [CHOICE]}).encode())


class Ran(NamedTuple):
    """What the command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


async def run_record(
    folder: Path,
    *options: str,
    play: Callable[[dict[str, int]], Awaitable[None]] | None = None,
    end: signal.Signals = signal.SIGINT,
) -> Ran:
    """Run the command; `play` gets the ports of the taps, then the command is told to end."""
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "--recordings", str(folder), "--listen", "127.0.0.1:0"),
        *("--backend-listen", "127.0.0.1:0", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said, ports = "", dict[str, int]()
    try:
        async with asyncio.timeout(60):
            while line := (await process.stderr.readline()).decode():
                said += line
                if found := re.match(r"(client|upstream) tap +http://127\.0\.0\.1:(\d+)", line):
                    ports[found[1]] = int(found[2])
                if "Ctrl-C" in line:
                    if play:
                        await play(ports)
                    process.send_signal(end)
    finally:
        if sys.exc_info()[0] and process.returncode is None:
            process.kill()
        out, _ = await process.communicate()
    return Ran(process.returncode or 0, out.decode(), said)


async def ask(port: int, path: bytes = b"/v1/chat/completions", body: bytes = TURN) -> bytes:
    async with connected(port) as client:
        await client.send(post(body, path=path))
        return await client.head()


def test_two_taps(tmp_path: Path) -> None:
    """It says what to put where, a line an exchange, a summary and the next command."""

    async def run() -> tuple[Ran, dict[str, int], Server]:
        used: dict[str, int] = {}

        async def play(ports: dict[str, int]) -> None:
            used.update(ports)
            await ask(ports["client"])
            await ask(ports["upstream"])

        async with serving(ANSWER) as server:
            urls = ("--upstream", f"{server.url}/v1", "--backend", server.url)
            return await run_record(tmp_path, *urls, "--name", "mine", play=play), used, server

    ran, ports, server = asyncio.run(run())
    assert (ran.code, ran.out) == (0, "")
    assert "nothing listens" not in ran.err
    client, upstream = (f"http://127.0.0.1:{ports[tap]}" for tap in ("client", "upstream"))
    snippet = re.search(r"^ {4}\{.*?^ {4}\}$", ran.err, re.M | re.S)
    assert snippet is not None
    provider = json.loads(snippet[0])["provider"]["recorded"]
    assert provider["npm"] == "@ai-sdk/openai-compatible"
    assert provider["options"]["baseURL"] == f"{client}/v1"
    assert f"OPENAI_BASE_URL={client}/v1\n" in ran.err
    assert f"ANTHROPIC_BASE_URL={client}\n" in ran.err
    assert f"{server.url}  becomes  {upstream}\n" in ran.err
    lines = re.findall(r"^\d\d:\d\d:\d\d  (client|upstream) +(.*)$", ran.err, re.M)
    assert [tap for tap, _ in lines] == ["client", "upstream"]
    shape = r"POST  /v1/chat/completions  m · 1 message  → 200  1 chunk, first \S+ s  in \S+ s"
    assert all(re.fullmatch(shape, said) for _, said in lines), lines
    assert f"Next:\n  proxyaudit audit {tmp_path / 'mine'}\n" in ran.err
    assert [e.tap for e in open_recording(tmp_path / "mine").exchanges] == ["client", "upstream"]


def test_empty_recording_is_said_loudly(tmp_path: Path) -> None:
    """Nothing came: exit code 2 and the likely reasons; SIGTERM ends it as Ctrl-C does."""
    ran = asyncio.run(run_record(tmp_path, "--upstream", "http://127.0.0.1:9", end=signal.SIGTERM))
    assert ran.code == 2
    assert "Nothing was recorded. Likely reasons:\n  - the agent was not pointed at" in ran.err
    assert "proxyaudit audit" not in ran.err


def test_dead_upstream_is_explained(tmp_path: Path) -> None:
    """The line of the first request says that nobody listens where it should go."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    async def run() -> Ran:
        async def play(ports: dict[str, int]) -> None:
            assert b" 502 " in await ask(ports["client"])

        return await run_record(tmp_path, "--upstream", f"http://127.0.0.1:{port}", play=play)

    ran = asyncio.run(run())
    assert ran.code == 0
    assert re.search(rf"→ no answer  ✗ upstream refused: .*127\.0\.0\.1.*{port}", ran.err)
    assert "1 ended early" in ran.err
    warning = f"nothing listens at http://127.0.0.1:{port}: requests will be refused until it does"
    assert ran.err.count(f"proxyaudit: {warning}\n") == 1


def test_kill_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """After kill -9 what had ended is complete, and what went on is there with its request."""

    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    def recorded() -> list[tuple[str, bytes]]:
        try:
            exchanges = open_recording(tmp_path / "mine").exchanges
        except UserError:  # nothing in it yet
            return []
        return [(e.end, e.request.body) for e in exchanges]

    async def run() -> Ran:
        async with serving(ANSWER, silent) as server, AsyncExitStack() as clients:

            async def play(ports: dict[str, int]) -> None:
                await ask(ports["client"])
                client = await clients.enter_async_context(connected(ports["client"]))
                await client.send(post(b'{"second": 2}'))
                await eventually(lambda: len(recorded()) == 2)

            options = ("--upstream", server.url, "--name", "mine")
            return await run_record(tmp_path, *options, play=play, end=signal.SIGKILL)

    assert asyncio.run(run()).code == -signal.SIGKILL
    assert recorded() == [("complete", TURN), ("recorder_stopped", b'{"second": 2}')]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--upstream", "127.0.0.1:8000"), "not an http(s) URL"),
        (("--upstream", "http://127.0.0.1:9", "--backend", "nonsense"), "not an http(s) URL"),
        (("--upstream", "http://127.0.0.1:9", "--listen", "8383x"), "not an address"),
        (("--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:{busy}"), "cannot listen on"),
        (("--upstream", "http://127.0.0.1:9", "--name", "taken"), "exists"),
    ],
)
def test_mistakes(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    """Each is said in a line with a hint, ends with 2, and leaves no new recording."""
    (tmp_path / "taken").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        filled = [option.format(busy=port) for option in options]
        ran = asyncio.run(run_record(tmp_path, *filled))
    assert ran.code == 2
    assert ran.err.startswith("proxyaudit: ")
    assert message in ran.err.splitlines()[0]
    assert ran.err.splitlines()[1].startswith("  hint: ")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("127.0.0.1:1", False),
        ("[::1]:1", False),
        ("localhost:1", False),
        (":1", False),
        ("0.0.0.0:1", True),
        ("[::]:1", True),
        ("192.0.2.7:1", True),
    ],
)
def test_other_machines(address: str, warned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Listening where others can reach it is allowed, with a warning."""
    _warn_if_open(address)
    assert ("other machines" in capsys.readouterr().err) is warned


def test_addresses() -> None:
    """HOST:PORT, an IPv6 host in brackets, a port alone after its colon."""
    assert _address("[::1]:80") == ("::1", 80)
    assert _address(":80") == ("127.0.0.1", 80)
    for wrong in ("127.0.0.1", "host:", "host:70000", "host:-1", ""):
        with pytest.raises(UserError):
            _address(wrong)


def line_of(url: str, body: bytes = TURN, **fields: object) -> str:
    exchange = Exchange("x", "client", 1000.0, Request("POST", url, (), body), **fields)  # type: ignore[arg-type]
    return exchange_line(exchange)


def test_lines_are_harmless() -> None:
    """What the traffic says can neither steer the terminal nor hide how the exchange ended."""
    model = "\x1b]0;owned\x07\u202e" + "m" * 500
    body = json.dumps({"model": model, "messages": []}).encode()
    line = line_of(
        "http://tap/v1/\x1b[2J/" + "p" * 500, body, end="upstream_reset", error="reset\n\x1b[1A"
    )
    assert line.isprintable()
    assert "\\x1b]0;owned" in line
    assert line.endswith("✗ upstream reset: reset \\x1b[1A")


def test_lines_hold_no_keys() -> None:
    """The query of a URL is where some put their key."""
    line = line_of("http://tap/v1beta/models/m:generate?key=AIza-secret", b"{}")
    assert "secret" not in line
    assert "/v1beta/models/m:generate" in line


def test_line_of_something_else() -> None:
    """A request that is none to a model gets its line too, and says so."""
    line = line_of("http://tap/", b"", response=Response(404, ended_at=0.5))
    assert re.search(r"POST  /  \(.+\)  → 404  0 chunks, first 0\.50 s  in 0\.50 s$", line)


@pytest.mark.parametrize(
    ("two_taps", "client", "upstream", "reason"),
    [
        (False, 0, 0, "was not pointed at http://tap"),
        (True, 2, 0, "still sends its requests to the backend itself"),
        (True, 0, 2, "talks to the proxy itself"),
        (True, 2, 2, None),
        (False, 2, 0, None),
    ],
)
def test_reasons_of_emptiness(
    two_taps: bool, client: int, upstream: int, reason: str | None
) -> None:
    """Which tap is empty says what was forgotten."""
    reasons = empty_reasons(two_taps, client, upstream, "http://tap")
    assert (reason is None) == (not reasons)
    assert reason is None or reason in reasons[0]
