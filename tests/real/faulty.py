"""mitmdump with addons/faults.py: an inference proxy that goes wrong in one way."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from real.parts import ROOT
from real.processes import free_port, listens, plain_environment, running, wait_until

MITMDUMP = Path(sys.executable).with_name("mitmdump")


@contextmanager
def faulty_proxy(folder: Path, target: str, fault: str, **options: object) -> Iterator[str]:
    """The root URL of a proxy in front of `target`; `options` are those of addons/faults.py."""
    settings = [f"fault={fault}", *(f"fault_{name}={value}" for name, value in options.items())]
    with mitmdump(folder, target, ROOT / "addons" / "faults.py", *settings) as url:
        yield url


@contextmanager
def mitmdump(folder: Path, target: str, script: Path, *settings: str) -> Iterator[str]:
    """The root URL of a mitmdump in front of `target`, with an addon and its settings."""
    port = free_port()
    command: list[str | Path] = [MITMDUMP, "-q", "-s", script, "--mode", f"reverse:{target}"]
    command += ["--listen-host", "127.0.0.1", "--listen-port", str(port)]
    for setting in ("connection_strategy=lazy", f"confdir={folder}", *settings):
        command += ["--set", setting]
    env = plain_environment(HOME=folder)
    with running(command, folder, work=ROOT, env=env) as server:
        wait_until(lambda: listens(port), server)
        yield f"http://127.0.0.1:{port}"
