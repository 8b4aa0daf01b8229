"""`proxyaudit record`: sit in between, and note everything."""

from typing import TYPE_CHECKING, Annotated

import typer

from proxyaudit.cli.common import ROOT, RootOption, examples, free_folder, note, say
from proxyaudit.cli.watching import (
    AlarmCommandOption,
    AlarmOnOption,
    EventsOption,
    MetricsOption,
    UiOption,
    Watching,
    open_watch,
    start_watch,
)

if TYPE_CHECKING:
    import asyncio

    from proxyaudit.core.exchange import Exchange
    from proxyaudit.workflows.record import Setup, Summary, Taps

_EXAMPLES = examples(
    "proxyaudit record --upstream http://127.0.0.1:4000",
    "proxyaudit record --upstream http://127.0.0.1:4000 --backend http://127.0.0.1:8000",
    "proxyaudit record --upstream https://llm.example.org/api --listen 127.0.0.1:9000",
    "proxyaudit record --upstream http://127.0.0.1:4000 --alarm-command 'notify-send forgotten'",
)
_LOOPBACK = ("127.", "::1", "localhost")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("record", epilog=_EXAMPLES)(record)


def record(
    upstream: Annotated[
        str,
        typer.Option(
            envvar="PROXYAUDIT_UPSTREAM",
            metavar="URL",
            help="Where the agent sent its requests so far: your proxy, or the server itself.",
        ),
    ],
    backend: Annotated[
        str | None,
        typer.Option(
            envvar="PROXYAUDIT_BACKEND",
            metavar="URL",
            help="The server behind the proxy: opens a second tap there.",
        ),
    ] = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address of the client tap.")
    ] = "127.0.0.1:8383",
    backend_listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address of the upstream tap.")
    ] = "127.0.0.1:8384",
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the recording.")] = None,
    root: RootOption = ROOT,
    ui: UiOption = True,
    events: EventsOption = None,
    alarm_command: AlarmCommandOption = None,
    alarm_on: AlarmOnOption = "warn",
    metrics: MetricsOption = None,
) -> None:
    """Record what an agent and a language model say to each other, changing nothing.

    With --backend there are two taps: agent → client tap → proxy → upstream tap → backend. Ctrl-C
    ends the recording. Keys and cookies are replaced by fingerprints before they are written;
    message texts are kept as they are. Exit code 2 if nothing was recorded, or not all of it
    could be written.
    """
    import asyncio

    from proxyaudit.workflows.record import Setup

    setup = Setup(
        upstream,
        free_folder(root, name, _now()),
        backend,
        _address(listen),
        _address(backend_listen),
    )
    for address in (listen, backend_listen) if backend else (listen,):
        _warn_if_open(address)
    asked = Watching(ui, events, alarm_command, alarm_on, metrics)
    summary, taps = asyncio.run(_run(setup, asked))
    raise typer.Exit(_finish(summary, taps, setup))


async def _run(setup: "Setup", asked: Watching) -> "tuple[Summary, Taps]":
    import asyncio

    from proxyaudit.report.live import exchange_line, plug_in
    from proxyaudit.workflows.record import record as run

    opened: list[Taps] = []
    checks: list[asyncio.Task[None]] = []
    shown: list[bool] = []
    watch = open_watch(asked, setup.folder)

    def on_open(taps: "Taps") -> None:
        opened.append(taps)
        note(plug_in(taps.client, taps.upstream, setup.upstream, setup.backend))
        note(f"\nRecording to {setup.folder}. Ctrl-C ends it.\n")
        shown.append(start_watch(watch, asked, setup.folder))
        # Not before: what cannot be recorded at all is said first, and alone.
        checks.append(asyncio.ensure_future(_warn_if_refused(setup)))

    def on_exchange(exchange: "Exchange") -> None:
        if not any(shown):
            note(exchange_line(exchange))

    def on_trouble(error: Exception) -> None:
        say(
            f"cannot write the recording: {error}",
            "Traffic goes on, but what comes now is lost. Make room and start the recorder anew.",
        )

    stop = asyncio.Event()
    _stop_on_signals(stop)
    try:
        summary = await run(
            setup,
            stop=stop,
            on_open=on_open,
            on_exchange=on_exchange,
            on_trouble=on_trouble,
            watch=watch,
        )
    finally:
        watch.close()
    await asyncio.gather(*checks)
    return summary, opened[0]


async def _warn_if_refused(setup: "Setup") -> None:
    from proxyaudit.workflows.record import refused

    for url in filter(None, (setup.upstream, setup.backend)):
        if await refused(url):
            say(
                f"nothing listens at {url}: requests will be refused until it does",
                "start it, or check the URL",
            )


def _stop_on_signals(stop: "asyncio.Event") -> None:
    import asyncio
    import signal

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)


def _finish(summary: "Summary", taps: "Taps", setup: "Setup") -> int:
    from proxyaudit.report.live import empty_reasons
    from proxyaudit.report.parts import count

    client, upstream = summary.exchanges["client"], summary.exchanges["upstream"]
    note(f"\n{_counted(summary)}")
    if summary.lost:
        say(f"not written: {count(summary.lost, 'line')} of the recording: {summary.problem}")
    reasons = empty_reasons(setup.backend is not None, client, upstream, taps.client)
    if reasons:
        side = "Nothing" if client + upstream == 0 else "Nothing at one of the taps"
        note(f"{side} was recorded. Likely reasons:")
        for reason in reasons:
            note(f"  - {reason}")
    if client + upstream == 0:
        return 2
    if not summary.turns:
        note("None of it was a request to a language model that can be read.")
    note(f"\nNext:\n  proxyaudit audit {summary.folder}\n  proxyaudit show {summary.folder}")
    return 2 if summary.lost else 0


def _counted(summary: "Summary") -> str:
    from proxyaudit.report.parts import count

    words = [
        f"{count(number, 'exchange')} at the {tap} tap "
        f"({count(summary.turns[tap], 'turn')} among them)"
        for tap, number in summary.exchanges.items()
    ]
    broken = sum(n for end, n in summary.ends.items() if end != "complete")
    if broken:
        words.append(f"{broken} ended early")
    return f"Recorded {', '.join(words) or 'nothing'} in {summary.folder}"


def _now() -> str:
    from datetime import datetime

    return datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")


def _address(text: str) -> tuple[str, int]:
    from proxyaudit.core.errors import UserError

    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise UserError(f"not an address: {text!r}", "give HOST:PORT, such as 127.0.0.1:8383")
    return host, int(port)


def _warn_if_open(address: str) -> None:
    if not _address(address)[0].startswith(_LOOPBACK):
        say(
            f"listening on {address} lets other machines use this tap",
            "Whoever reaches it can use your backend and fills your recording. Loopback is safe.",
        )
