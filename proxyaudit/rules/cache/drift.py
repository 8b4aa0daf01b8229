"""What kind of change a text went through: a date, something new in every request, or words."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from rapidfuzz.distance import Indel

type Drift = Literal["volatile", "date", "words"]

_CHUNK = re.compile(r"\n|[^\s=;,(){}\[\]\"'<>|]+")
_CALENDAR = re.compile(
    r"""(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?|today|date
    |(jan|febr?|mar|apr|jun|jul|aug|sept?|oct|nov|dec)[a-z]*|may""",
    re.IGNORECASE | re.VERBOSE,
)
_DAY = re.compile(r"(\d{1,4})(st|nd|rd|th|\.)?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|20\d\d-?W\d\d(-\d)?")
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d|am|pm)?", re.IGNORECASE)
_NONCE = re.compile(
    r"""\d{5,} | [0-9a-f]{8}-[0-9a-f-]{8,} | (?=\w*[a-z])(?=(\w*\d){2})\w{5,}
    | (?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+/-]{12,}""",
    re.IGNORECASE | re.VERBOSE,
)
_COUNTED = re.compile(
    r"""\b(request|turn|step|message|call|attempt|seq(uence)?|counter|count|round|nonce|id|trace
    |session|uptime|elapsed|remaining|used|tokens?|seconds?|budget)s?\b""",
    re.IGNORECASE | re.VERBOSE,
)


def drift(old: str, new: str) -> Drift:
    """The kind of change between two texts that differ. One volatile place is enough."""
    left, right = _CHUNK.findall(old), _CHUNK.findall(new)
    kinds = {_kind(a, b, line) for a, b, line in _replaced(left, right)}
    if "volatile" in kinds:
        return "volatile"
    return "date" if kinds == {"date"} else "words"


def _replaced(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(old chunk, new chunk, its line) where so many chunks stand for as many others; ("", "", "")
    where that is not so."""
    old: list[str] = []
    new: list[int] = []
    for op in [*Indel.opcodes(left, right), None]:
        if op is not None and op.tag != "equal":
            old += left[op.src_start : op.src_end]
            new += range(op.dest_start, op.dest_end)
            continue
        for a, at in zip(old, new, strict=False):
            yield a, right[at], _line(right, at)
        if len(old) != len(new):
            yield "", "", ""
        old, new = [], []


def _line(chunks: Sequence[str], at: int) -> str:
    start, end = at, at
    while start > 0 and chunks[start - 1] != "\n":
        start -= 1
    while end < len(chunks) and chunks[end] != "\n":
        end += 1
    return " ".join(chunks[start:end])


def _kind(old: str, new: str, line: str) -> Drift:
    a, b = (word.strip(".,:!?*`_#") for word in (old, new))
    if _CALENDAR.fullmatch(a) and _CALENDAR.fullmatch(b):
        return "date"
    dated = _CALENDAR.search(line) is not None
    if _DAY.fullmatch(a) and _DAY.fullmatch(b) and (dated or not a.isdecimal()):
        return "date"
    if _is_clock(a) and _is_clock(b):
        return "volatile"
    if _NONCE.fullmatch(a) and _NONCE.fullmatch(b) and abs(len(a) - len(b)) <= 2:
        return "volatile"
    counted = a.isdecimal() and b.isdecimal() and _COUNTED.search(line)
    return "volatile" if counted else "words"


def _is_clock(word: str) -> bool:
    day, _, time = word.rpartition("T")
    return bool(_CLOCK.fullmatch(time)) and (not day or bool(_DAY.fullmatch(day)))
