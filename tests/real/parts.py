"""Where the real parts are. A missing one skips a test, but fails it where CI=true."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_PARTS = ROOT / ".parts"
_PLACES = {
    "opencode": _PARTS / "node_modules" / ".bin" / "opencode",
    "xllamacpp": _PARTS / "llama" / "xllamacpp",
    "smollm2.gguf": _PARTS / "smollm2.gguf",
}


def need(name: str) -> Path:
    """The path of a part. Without it the test is skipped, or fails where CI=true."""
    found = _find(name)
    if found is not None:
        return found
    reason = f"the real part {name!r} is not installed: run .ci/parts"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def _find(name: str) -> Path | None:
    if place := _PLACES.get(name):
        return place if place.exists() else None
    on_path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    return Path(on_path) if on_path else None
