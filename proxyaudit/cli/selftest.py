"""`proxyaudit selftest`: prove on this machine that the recorder can not be noticed."""

from typing import TYPE_CHECKING, Annotated

import typer

from proxyaudit.cli.common import FormatOption, examples, note

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from proxyaudit.core.selftest import CheckResult, SelftestDocument
    from proxyaudit.workflows.selftest import Plan

_TERMINATED = 143
_CODES = {"transparent": 0, "not transparent": 1, "inconclusive": 2}
_EXAMPLES = examples(
    "proxyaudit selftest",
    "proxyaudit selftest --upstream http://127.0.0.1:8000",
    "proxyaudit selftest --through http://127.0.0.1:4000 --listen 127.0.0.1:9100",
    "proxyaudit selftest --check stream.chunks --check end.upstream --format json",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("selftest", epilog=_EXAMPLES)(selftest)


def selftest(
    upstream: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Also ask this real server: for its models, and for a few streamed tokens.",
        ),
    ] = None,
    through: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Test this proxy instead of the recorder. It has to forward to --listen.",
        ),
    ] = None,
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Address of the scripted upstream; 0: a free port."),
    ] = "127.0.0.1:0",
    check: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this check; may be given several times."),
    ] = None,
    silence: Annotated[
        float,
        typer.Option(
            min=0.0, max=86400, metavar="S", help="How long a silence to try, in seconds."
        ),
    ] = 1.5,
    patience: Annotated[
        float,
        typer.Option(
            min=0.5, max=600, metavar="S", help="Seconds after which a chunk counts as held back."
        ),
    ] = 5.0,
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Environment variable with the key for --upstream."),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Say what each check proves, and end.")
    ] = False,
    format_: FormatOption = "text",
) -> None:
    """Prove on this machine that the recorder changes nothing and holds nothing back.

    Scripted exchanges go direct and through the recorder, in turns, over loopback: requests,
    answers, chunks, aborts, cuts, websockets and times are compared at both ends, and with what
    was recorded. Exit code 0: transparent; 1: not; 2: could not be told.
    """
    import asyncio
    import tempfile
    from pathlib import Path

    from proxyaudit.report.console import print_text
    from proxyaudit.report.selftest_text import selftest_json, summary_view
    from proxyaudit.selftest.live import Timing
    from proxyaudit.workflows.selftest import Plan

    if list_:
        _print_checks()
        return
    plan = Plan(
        through,
        upstream,
        _address(listen),
        tuple(check or ()),
        Timing(patience, silence),
        _key(api_key_env),
    )
    _refuse_both(plan)
    with tempfile.TemporaryDirectory(prefix="proxyaudit-selftest-") as scratch:
        try:
            show = _shown if format_ == "text" else _silent
            document = asyncio.run(_run(plan, Path(scratch), show))
        except asyncio.CancelledError:
            raise typer.Exit(_TERMINATED) from None
    if format_ == "json":
        typer.echo(selftest_json(document))
    else:
        print_text(summary_view(document))
    raise typer.Exit(_CODES[document.verdict])


async def _run(
    plan: "Plan", scratch: "Path", show: "Callable[[CheckResult], None]"
) -> "SelftestDocument":
    import asyncio
    import signal
    from contextlib import suppress

    from proxyaudit.workflows.selftest import selftest as run

    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # not on Windows
        # The recorder is a process of its own: it has to be ended with this one.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await run(
        plan,
        scratch,
        on_result=show,
        on_open=lambda url: note(f"scripted upstream at {url}"),
        announce=note,
    )


def _shown(result: "CheckResult") -> None:
    from proxyaudit.report.console import print_text
    from proxyaudit.report.selftest_text import check_view

    print_text(check_view(result))


def _silent(result: "CheckResult") -> None:
    pass


def _print_checks() -> None:
    from proxyaudit.selftest.base import all_checks, recorded_checks

    told = [(check.id, check.proves, check.doc) for check in all_checks()]
    told += [(check.id, check.proves, check.doc) for check in recorded_checks()]
    for id_, proves, doc in told:
        typer.echo(f"{id_}: {proves}\n    {' '.join(doc.split())}\n")


def _refuse_both(plan: "Plan") -> None:
    from proxyaudit.core.errors import UserError

    if plan.through is not None and plan.upstream is not None:
        raise UserError(
            "--through and --upstream do not go together",
            "--upstream tests the recorder in front of a real server; test the proxy by itself",
        )


def _address(text: str) -> tuple[str, int]:
    from proxyaudit.core.errors import UserError

    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise UserError(f"not an address: {text!r}", "give HOST:PORT, such as 127.0.0.1:9100")
    return host, int(port)


def _key(name: str | None) -> str | None:
    import os

    from proxyaudit.core.errors import UserError

    if name is None:
        return os.environ.get("OPENAI_API_KEY") or None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UserError(f"the environment variable {name} is not set", f"export {name}=…")
    return key
