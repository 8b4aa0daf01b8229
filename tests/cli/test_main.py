"""The entry point: what goes wrong, how it is said, and with which code."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from chat_lines import clean, write
from inline_snapshot import snapshot

import proxyaudit
from proxyaudit.cli import main
from proxyaudit.cli.main import run
from proxyaudit.core.errors import UserError


def _python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


def test_the_help_loads_nothing_heavy() -> None:
    """`--help` has to answer at once, whatever the commands need later."""
    heavy = ("mitmproxy", "httpx", "deepdiff", "pydantic", "pydantic_core", "rapidfuzz", "rich")
    code = (
        "import sys; import proxyaudit.cli.main as m; m.build(); m.run(['--help']);"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    ran = _python("-c", code)
    assert ran.stderr == ""
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["audit", "list", "show", "diff", "rule"])
def test_every_command_gives_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert f"proxyaudit {command}" in capsys.readouterr().out.partition("Examples:")[2]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"proxyaudit {proxyaudit.__version__}\n"


def test_wrong_usage_exits_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--no-such-option"]) == 2
    assert run(["no-such-command"]) == 2
    assert "No such command" in capsys.readouterr().err


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def build() -> typer.Typer:
        app = typer.Typer(pretty_exceptions_enable=False)

        @app.command()
        def fail() -> None:
            raise error

        return app

    monkeypatch.setattr(main, "build", build)


def test_a_bug_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Short, without a traceback, unless one asks for it."""
    monkeypatch.delenv("PROXYAUDIT_DEBUG", raising=False)
    _failing(monkeypatch, KeyError("chunks\x1b[2J"))
    assert run([]) == 2
    assert capsys.readouterr().err == snapshot("""\
proxyaudit: internal error: KeyError: 'chunks\\x1b[2J'
  This is a bug in proxyaudit. Please report it with what this prints:
  PROXYAUDIT_DEBUG=1 proxyaudit …
""")
    monkeypatch.setenv("PROXYAUDIT_DEBUG", "1")
    assert run([]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_an_interruption_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _failing(monkeypatch, KeyboardInterrupt())
    assert run([]) == 130
    assert capsys.readouterr().err.strip() == ""


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`proxyaudit … | head` ends without a word."""
    write(tmp_path / "big.jsonl", *clean())
    command = f"{sys.executable} -m proxyaudit.cli.main show {tmp_path / 'big.jsonl'} e2 | true"
    ran = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "list",
        "rule",
        "audit RECORDING",
        "audit RECORDING --format json",
        "show RECORDING",
        "show RECORDING e2 --raw request",
        "diff RECORDING",
        "demo --list",
    ],
)
def test_a_full_stdout_is_told_in_a_message(
    tmp_path: Path, arguments: str, unbuffered: str
) -> None:
    recording = write(tmp_path / "clean.jsonl", *clean())
    ran = _with_shell(arguments.replace("RECORDING", str(recording)), "> /dev/full", unbuffered)
    assert ran.stderr == snapshot("""\
proxyaudit: cannot write to stdout: No space left on device
  hint: what was written is not complete
""")
    assert ran.returncode == 2


@pytest.mark.parametrize("arguments", ["--help", "list", "record --upstream http://127.0.0.1:9"])
def test_a_closed_stdout_is_told_in_a_message(arguments: str) -> None:
    ran = _with_shell(arguments, ">&-")
    assert ran.stderr == snapshot("""\
proxyaudit: stdout is closed: there is nowhere to write to
  hint: send the output to a file or a pipe
""")
    assert ran.returncode == 2


def test_what_is_meant_for_a_closed_stderr_goes_nowhere() -> None:
    """Not to stdout, where a program reads a result."""
    ran = _with_shell("show no-such-recording", "2>&-")
    assert (ran.returncode, ran.stdout) == (2, "")


def _with_shell(
    arguments: str, redirection: str, unbuffered: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -m proxyaudit.cli.main {arguments} {redirection}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )


def test_a_full_disk_elsewhere_is_not_blamed_on_stdout(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _failing(monkeypatch, OSError(errno.ENOSPC, "No space left on device"))
    assert run([]) == 2
    assert "internal error: OSError" in capfd.readouterr().err


@pytest.mark.parametrize("group", [ExceptionGroup, BaseExceptionGroup])
def test_a_mistake_in_a_group_of_errors_is_shown_as_a_mistake(
    group: type[ExceptionGroup[Exception]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tasks that run together wrap what one of them raised."""
    mistake = UserError("no such folder", "make it")
    _failing(monkeypatch, group("tasks", [KeyError("x"), group("inner", [mistake])]))
    assert run([]) == 2
    assert capsys.readouterr().err == "proxyaudit: no such folder\n  hint: make it\n"


def test_the_demo_says_that_it_cannot_record_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    assert run(["demo", "--recordings", str(taken)]) == 2
    told = capsys.readouterr().err
    assert f"proxyaudit: cannot record to {taken}" in told
    assert "internal error" not in told


def test_a_terminal_without_our_marks_gets_plain_words(tmp_path: Path) -> None:
    """ASCII instead of an exception; what ASCII lacks, as an escape."""
    recording = write(tmp_path / "clean.jsonl", *clean())
    ran = _python("-m", "proxyaudit.cli.main", "audit", str(recording), PYTHONIOENCODING="ascii")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("ok No context was lost")
    assert ran.stdout.isascii()


def test_rule_lists_and_explains(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "message.merged"]) == 0
    assert capsys.readouterr().out == snapshot("""\
message.merged  warn  family history

  Two messages became one.

What it does
  Reports a message that holds, in order, the texts of several messages of the same role which stood
  apart on the other side.

Why it matters
  Adapters fold messages to please a template that wants strict turns. What stood between them is
  lost or moved, and the model no longer knows who said what when.

Example
  Bad: user "Note three rakes.", assistant "Noted.", user "Add a can." is sent on as user "Note
  three rakes.\\nAdd a can."
  Good: three messages.

What to look at next
  The adapter's options for "strict" or "alternating" roles.
""")
    assert run(["rule"]) == 0
    assert "message.merged" in capsys.readouterr().out
    assert run(["rule", "no.such"]) == 2
