"""`proxyaudit selftest` as a user runs it: on our own recorder, on another proxy, and with mistakes."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selftest.relay import Vice, relay

from proxyaudit.cli.main import run
from proxyaudit.core.selftest import SelftestDocument
from proxyaudit.selftest.base import all_checks, recorded_checks

SLOW = {"body.large", "stream.pacing"}
# What our recorder lawfully does; docs/transparency.md tells each of them.
KNOWN = {"request.bytes", "response.bytes", "response.interim", "response.trailers"}


def test_our_recorder_is_transparent_and_records_what_it_saw(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The whole command on real sockets, but for the slow checks: nothing fails."""
    ids = [check.id for check in all_checks() if check.id not in SLOW]
    ids += [check.id for check in recorded_checks()]
    words = [word for id_ in ids for word in ("--check", id_)]
    code = run(["selftest", "--format", "json", "--silence", "0.2", *words])
    out, err = capsys.readouterr()
    document = SelftestDocument.model_validate_json(out)
    failed = {c.id: c.details for c in document.checks if c.status not in ("ok", "warn")}
    assert (code, document.verdict, failed) == (0, "transparent", {})
    assert {c.id for c in document.checks if c.status == "warn"} <= KNOWN
    assert [c.id for c in document.checks] == ids
    assert (document.target, document.upstream, document.pacing) == ("recorder", None, None)
    assert err.startswith("scripted upstream at http://127.0.0.1:")


@contextmanager
def relayed(upstream: int, vice: Vice) -> Iterator[str]:
    """The URL of a relay that runs in a thread of its own, before a port."""
    loop, opened, done = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    ports: list[int] = []

    async def serve() -> None:
        async with relay(upstream, vice) as address:
            ports.append(address.port)
            opened.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert opened.wait(20)
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(20)
        loop.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize(("dropped", "code"), [(b"X-Twice: one\r\n", 1), (b"no such header", 0)])
def test_a_proxy_that_drops_a_header_is_told_from_one_that_does_not(
    dropped: bytes, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    words = ["--listen", f"127.0.0.1:{port}", "--check", "request.bytes"]
    with relayed(port, Vice(request=lambda data: data.replace(dropped, b""))) as url:
        assert run(["selftest", "--through", url, *words]) == code
    out, _ = capsys.readouterr()
    assert ("- the header 'X-Twice: one' was dropped" in out) is bool(code)
    assert out.splitlines()[-1].startswith(
        f"NOT TRANSPARENT: {url} can be noticed" if code else f"TRANSPARENT: {url} passed"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--check", "nope"], "there is no check 'nope'"),
        (["--listen", "here"], "not an address: 'here'"),
        (["--through", "ftp://x"], "not a URL that can be tested: ftp://x"),
        (["--upstream", "x"], "not an http(s) URL: 'x'"),
        (["--through", "http://x", "--upstream", "http://y"], "do not go together"),
        (["--api-key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY is not set"),
        (["--through", "http://127.0.0.1:9"], "did not reach the scripted upstream: no connection"),
    ],
)
def test_mistakes_are_told_at_once(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["selftest", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert "hint: " in err


def test_the_address_of_the_scripted_upstream_may_be_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert run(["selftest", "--listen", f"127.0.0.1:{port}"]) == 2
    assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err


def test_every_check_can_be_read_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", "--list"]) == 0
    out, _ = capsys.readouterr()
    assert [line.partition(":")[0] for line in out.splitlines() if line[:1].isalpha()] == [
        *(check.id for check in all_checks()),
        *(check.id for check in recorded_checks()),
    ]
