"""Real llama.cpp with SmolLM2, small enough for two slow cores."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from real.parts import ROOT, need
from real.processes import free_port, plain_environment, running, wait_until

ALIAS = "smollm2"


@contextmanager
def llama_server(folder: Path) -> Iterator[str]:
    """The root URL of a server with one slot; the same question gets the same answer."""
    package, weights, port = need("xllamacpp"), need("smollm2.gguf"), free_port()
    script = ROOT / "tests" / "real" / "llama_server.py"
    command: list[str | Path] = [sys.executable, script, weights, ALIAS, str(port)]
    env = plain_environment(HOME=folder, PYTHONPATH=package.parent)
    url = f"http://127.0.0.1:{port}"
    with running(command, folder, env=env) as server:
        wait_until(lambda: _is_healthy(url), server, 60)
        yield url


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=2, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False
