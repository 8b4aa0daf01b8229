"""Standard streams that are closed, full, or no longer read."""

import errno
import os
import sys
from typing import TextIO

from proxyaudit.cli.common import say

# What a write fails with: no room, a file at its limit, a device that is gone.
_WRITING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO})


def open_streams() -> bool:
    """Whether there is a stdout. A closed stderr is opened to nowhere, so that nothing meant for
    it gets into a file or a socket that takes its number."""
    if sys.stderr is None:
        sys.stderr = _nowhere()
    if sys.stdout is not None:
        return True
    say("stdout is closed: there is nowhere to write to", "send the output to a file or a pipe")
    return False


def is_stdout_bad(error: OSError) -> bool:
    """Whether an error came from stdout and not from some other file."""
    if error.filename is not None or error.errno not in _WRITING:
        return False
    try:
        number = sys.stdout.fileno()
    except OSError:
        return False
    try:
        sys.stdout.flush()
        # Without a buffer nothing is left to flush: only another try can tell.
        os.write(number, b"\n")
    except OSError:
        return True
    return False


def output_failed(error: OSError) -> int:
    """The disk under stdout is full, or the like: say so; the exit code."""
    _give_up_stdout()
    say(f"cannot write to stdout: {error.strerror or error}", "what was written is not complete")
    return 2


def reader_gone() -> int:
    """Whoever read our output has closed it (`| head`): nothing more to say, and nobody to tell."""
    _give_up_stdout()
    return 0


def _give_up_stdout() -> None:
    # Python writes what is left when it ends, and would complain again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - for as long as we run
