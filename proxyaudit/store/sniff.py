"""What a file holds, by its content: its name may say anything."""

import re
from pathlib import Path
from typing import Literal

from proxyaudit.core.errors import UserError
from proxyaudit.store.bundle import MARK
from proxyaudit.store.elements import keys_of
from proxyaudit.store.har import PACKED, unpacked
from proxyaudit.store.traces import TraceShape
from proxyaudit.store.zstd import MAGIC

type FileKind = Literal["lines", "flow", "har", "trace"]

KINDS = (
    "a recording is a folder, a .jsonl or .jsonl.zst file, a mitmproxy .flow file, a .har file, "
    "or a trace of claude-trace or claude-tap"
)
EMPTY = "no request went through the recorder: does the harness use the recorder's URL?"
ONE_LINE = "JSON Lines hold each exchange on one line: `jq -c` brings a file into that form"
_HEAD = 1 << 16
_FLOW = re.compile(rb"\d{1,12}:")
_BOM = b"\xef\xbb\xbf"
_HAR_LOG = {"version", "creator", "entries", "pages", "browser"}


def kind_of_file(path: Path) -> FileKind:
    """What a file holds; raises UserError if it cannot be a recording, OSError if unreadable."""
    with path.open("rb") as file:
        head = file.read(64)
    if not head:
        raise UserError(f"{path} is empty", EMPTY)
    if _FLOW.match(head):
        return "flow"
    begin = _begin(path)
    if begin[:1] == b"{":
        shape = _shape(begin)
        if head.startswith(PACKED) and shape != "har":
            raise UserError(f"{path} is compressed with gzip", "unpack it with gunzip first")
        return shape if shape in ("har", "lines") else "trace"
    if begin[:1] == b"[":
        raise UserError(f"{path} is a JSON list and no recording", f"{ONE_LINE} (`jq -c '.[]'`)")
    if head.startswith(MAGIC):
        return "lines"
    if head.startswith(b"\x1f\x8b"):
        raise UserError(f"{path} is compressed with gzip", "unpack it with gunzip first")
    raise UserError(f"{path} is no recording", KINDS)


def trace_shape(path: Path) -> TraceShape:
    """Which trace a file of the kind `trace` is."""
    shape = _shape(_begin(path))
    if shape == "har" or shape == "lines":
        raise UserError(f"{path} changed while it was read", "try again")
    return shape


def _begin(path: Path) -> bytes:
    """The first bytes, unpacked, without a byte order mark and blanks."""
    out = b""
    with path.open("rb") as file:
        for piece in unpacked(file, []):
            out += piece
            if len(out) >= _HEAD:
                break
    return out[:_HEAD].removeprefix(_BOM).lstrip()


def _shape(begin: bytes) -> TraceShape | Literal["har", "lines"]:
    keys = keys_of(begin)
    asked = keys.get("request", [])
    if MARK in keys:
        return "claude-tap bundle"
    if _HAR_LOG & {*keys.get("log", [])}:
        return "har"
    if {"format", "started_at"} & {*keys}:
        return "lines"
    if {"timestamp", "url"} <= {*asked}:
        return "claude-trace"
    if "timestamp" in keys and {"path", "method"} <= {*asked}:
        return "claude-tap"
    return "lines"
