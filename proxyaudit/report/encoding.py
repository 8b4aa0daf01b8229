"""Output streams whose encoding lacks our marks, or anything else that traffic may hold."""

import codecs
import io
import sys

_PLAIN = {
    "·": "-",
    "…": "...",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "→": "->",
    "←": "<-",
    "↵": "\\n",
    "↳": ">",
    "│": "|",
    "─": "-",
    "━": "=",
    "✓": "ok",
    "✗": "x",
    "×": "x",
    "–": "-",
    "≠": "!=",
    "≈": "~",
    # Bars, from low to high.
    **dict(zip("▁▂▃▄▅▆▇█", "_.:-=+*#", strict=True)),
}
HANDLER = "proxyaudit.plain"


def _in_plain_words(error: UnicodeError) -> tuple[str | bytes, int]:
    """An encoding error handler: our own marks in ASCII, anything else as an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    bad = error.object[error.start : error.end]
    good = "".join(
        _PLAIN.get(char) or char.encode("ascii", "backslashreplace").decode("ascii") for char in bad
    )
    return good, error.end


codecs.register_error(HANDLER, _in_plain_words)


def adapt_streams() -> None:
    """Let stdout and stderr show what their encoding lacks, instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)
