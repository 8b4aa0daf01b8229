"""The test of transparency on real proxies: ours passes, and those that are known to be seen fail."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from real.nginx import nginx
from real.processes import free_port, listens, plain_environment, running, wait_until
from real.recorder import PROXYAUDIT, proxyaudit
from real.served import served

from proxyaudit.core.selftest import SelftestDocument
from proxyaudit.demo.backend import Backend
from proxyaudit.demo.coding import coding_script

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

MITMDUMP = Path(sys.executable).with_name("mitmdump")
DROPPING = """
def request(flow):
    flow.request.headers.pop("x-lower", None)
def responseheaders(flow):
    flow.response.stream = True
"""


def selftest(folder: Path, *words: str) -> tuple[int, SelftestDocument]:
    done = proxyaudit(folder, "selftest", "--format", "json", *words, seconds=200)
    assert done.out, done
    return done.code, SelftestDocument.model_validate_json(done.out)


def through(folder: Path, url: str, port: int) -> tuple[int, dict[str, list[str]]]:
    """The exit code of a test of a proxy, and what failed, with its details."""
    words = ("--listen", f"127.0.0.1:{port}", "--patience", "2", "--silence", "0.2")
    code, document = selftest(folder, "--through", url, *words)
    return code, {c.id: c.details for c in document.checks if c.status == "fail"}


@contextmanager
def mitmdump(folder: Path, target: str, *more: str | Path) -> Iterator[str]:
    """The root URL of a mitmdump in front of `target`, as it comes."""
    port = free_port()
    command: list[str | Path] = [MITMDUMP, "-q", "--mode", f"reverse:{target}"]
    command += ["--listen-host", "127.0.0.1", "--listen-port", str(port)]
    command += ["--set", f"confdir={folder}", *more]
    with running(command, folder, env=plain_environment(HOME=folder)) as server:
        wait_until(lambda: listens(port), server)
        yield f"http://127.0.0.1:{port}"


def test_our_recorder_passes_every_check_and_before_a_server_too(tmp_path: Path) -> None:
    with served(Backend(coding_script)) as backend:
        code, document = selftest(tmp_path, "--upstream", backend.url)
    seen = {check.id: check.status for check in document.checks}
    failed = {c.id: c.details for c in document.checks if c.status not in ("ok", "warn")}
    assert (code, document.verdict, failed) == (0, "transparent", {})
    assert (seen["real.models"], seen["real.stream"]) == ("ok", "ok")
    assert document.pacing is not None
    assert document.pacing.chunk.pairs == 12
    assert [r.path for r in backend.received].count("/v1/chat/completions") == 3


def test_a_recorder_before_a_server_that_is_down_is_not_judged(tmp_path: Path) -> None:
    words = ("--upstream", f"http://127.0.0.1:{free_port()}", "--check", "response.errors")
    code, document = selftest(tmp_path, *words)
    assert (code, document.verdict) == (2, "inconclusive")
    assert [(c.id, c.status) for c in document.checks] == [
        ("response.errors", "ok"),
        ("real.models", "skip"),
        ("real.stream", "skip"),
    ]


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ended_early_it_leaves_nothing_behind(
    sign: signal.Signals, code: int, tmp_path: Path
) -> None:
    """Neither the recorder that it started nor its files, though only itself is told to end."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words: list[str | Path] = [
        PROXYAUDIT,
        "selftest",
        "--check",
        "stream.silence",
        "--silence",
        "60",
    ]
    env = plain_environment(HOME=tmp_path, TMPDIR=scratch)
    with running(words, tmp_path / "log", env=env) as program:
        wait_until(lambda: any(scratch.glob("*/selftest/meta.json")), program)
        program.process.send_signal(sign)
        assert program.wait(30).code == code
        with pytest.raises(ProcessLookupError):
            os.killpg(program.process.pid, 0)
    assert list(scratch.iterdir()) == []


def test_mitmdump_as_it_comes_is_seen_to_buffer(tmp_path: Path) -> None:
    port = free_port()
    with mitmdump(tmp_path, f"http://127.0.0.1:{port}") as url:
        code, failed = through(tmp_path, url, port)
    assert code == 1
    assert "held back: the first byte of the body" in failed["stream.chunks"][0]
    assert "1 chunks arrived instead of 40" in failed["stream.chunks"]
    assert "stream.events" in failed
    assert "status 502 took the place of what had come before" in failed["end.upstream"][0]
    assert "body.large" not in failed
    assert "request.bytes" not in failed


def test_nginx_as_it_comes_is_seen_to_buffer_and_to_launder_cuts(tmp_path: Path) -> None:
    port = free_port()
    with nginx(tmp_path / "nginx", f"http://127.0.0.1:{port}", well=False) as url:
        code, failed = through(tmp_path, url, port)
    assert code == 1
    assert "held back: the first byte of the body" in failed["stream.chunks"][0]
    assert any("a whole answer, with a clean end" in told for told in failed["end.upstream"])
    assert any("HTTP/1.0" in told for told in failed["request.bytes"])


def test_a_proxy_that_drops_one_header_is_seen_to_do_so(tmp_path: Path) -> None:
    """Everything else is fine with it."""
    port, script = free_port(), tmp_path / "dropping.py"
    script.write_text(DROPPING, "utf-8")
    with mitmdump(tmp_path, f"http://127.0.0.1:{port}", "-s", script) as url:
        code, failed = through(tmp_path, url, port)
    assert code == 1
    assert failed["request.bytes"][0] == "the header 'x-lower: kept' was dropped"
    assert "stream.chunks" not in failed
