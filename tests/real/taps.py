"""The whole path of a real opencode, as a user would set it up."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from real.faulty import faulty_proxy, mitmdump
from real.nginx import nginx
from real.opencode import Opencode
from real.parts import ROOT
from real.processes import free_port
from real.recorder import Recorder, recorder
from real.served import served

from proxyaudit.demo.backend import Backend
from proxyaudit.demo.coding import coding_script


class Tapped(NamedTuple):
    backend: Backend
    recorder: Recorder
    harness: Opencode


@contextmanager
def tapped_opencode(
    folder: Path, fault: str | None = None, *, from_turn: int = 3, ours: Sequence[str] = ()
) -> Iterator[Tapped]:
    """opencode → client tap → nginx, or a faulty proxy → upstream tap → scripted backend.

    With `ours` there are stand-ins before the first tap for all texts of opencode that hold none
    of these.
    """
    with ExitStack() as stack:
        enter = stack.enter_context
        backend = enter(served(Backend(coding_script)))
        port = free_port()
        tap, proxy_folder = f"http://127.0.0.1:{port}", folder / "proxy"
        if fault is None:
            proxy = enter(nginx(proxy_folder, tap))
        else:
            proxy = enter(faulty_proxy(proxy_folder, tap, fault, from_turn=from_turn))
        taps = enter(recorder(folder / "recorded", proxy, backend=backend.url, upstream_port=port))
        url = taps.url
        if ours:
            script = ROOT / "tests" / "real" / "standins.py"
            url = enter(mitmdump(folder / "standins", url, script, f"ours={'|'.join(ours)}"))
        yield Tapped(backend, taps, Opencode(folder, f"{url}/v1"))
