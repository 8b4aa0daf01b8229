"""Bytes to stdout, exactly; but never escape sequences to a terminal."""

import sys

from proxyaudit.report.safe import safe


def write_bytes(body: bytes) -> None:
    """To a pipe or a file: the bytes. To a terminal: the same as text, made harmless."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write(safe(body.decode("utf-8", "backslashreplace")) + "\n")
        return
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()
