"""What kind of change a text went through: a date, something new in every request, the order of
its words, or the words."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from rapidfuzz.distance import Indel

from proxyaudit.compare.align import common_prefix

type Drift = Literal["volatile", "date", "order", "words"]

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
    |session|uptime|elapsed|remaining|used|tokens?|seconds?|budget|free|left|memory|disk|load|cpu
    |battery|unread|pending|visitor|pid|seed|salt|random|cache|latency)s?\b""",
    re.IGNORECASE | re.VERBOSE,
)
_AMOUNT = re.compile(r"\d+(\.\d+(?=[%a-z]))?(%|[a-z]{1,3})?", re.IGNORECASE)
_AROUND = ".,:!?*`_#"
# So many words to each side say what a number counts. Of longer texts nothing fine is asked.
_NEAR, _MOST, _LONGEST = 12, 20_000, 200


def drift(old: str, new: str) -> Drift:
    """The kind of change between two texts that differ. One volatile place is enough."""
    left, right = _differing(_CHUNK.findall(old), _CHUNK.findall(new))
    if max(len(left), len(right)) > _MOST:
        return "words"
    if sorted(_bare(left)) == sorted(_bare(right)):
        return "order"
    kinds = {_kind(a, b, line) for a, b, line in _replaced(left, right)}
    if "volatile" in kinds:
        return "volatile"
    return "date" if kinds == {"date"} else "words"


def _differing(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """Both without what they begin and end with alike, but for the words next to the change."""
    limit = min(len(left), len(right))
    head = common_prefix(left, right)
    tail = min(common_prefix(left[::-1], right[::-1]), limit - head)
    start, end = max(0, head - _NEAR), max(0, tail - _NEAR)
    return left[start : len(left) - end], right[start : len(right) - end]


def _bare(chunks: Sequence[str]) -> list[str]:
    return [chunk.strip(_AROUND) for chunk in chunks]


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
    """The words around a place, in its line."""
    start, end = at, at
    while start > max(0, at - _NEAR) and chunks[start - 1] != "\n":
        start -= 1
    while end < min(len(chunks), at + _NEAR) and chunks[end] != "\n":
        end += 1
    return " ".join(chunks[start:end])


def _kind(old: str, new: str, line: str) -> Drift:
    if max(len(old), len(new)) > _LONGEST:
        return "words"
    a, b = (word.strip(_AROUND) for word in (old, new))
    if _CALENDAR.fullmatch(a) and _CALENDAR.fullmatch(b):
        return "date"
    dated = _CALENDAR.search(line) is not None
    if _DAY.fullmatch(a) and _DAY.fullmatch(b) and (dated or not a.isdecimal()):
        return "date"
    if _is_clock(a) and _is_clock(b):
        return "volatile"
    if _NONCE.fullmatch(a) and _NONCE.fullmatch(b) and abs(len(a) - len(b)) <= 2:
        return "volatile"
    counted = _unit(a) == _unit(b) is not None and _COUNTED.search(line)
    return "volatile" if counted else "words"


def _unit(word: str) -> str | None:
    """What stands behind a number, "" if nothing does; None for what is no number."""
    amount = _AMOUNT.fullmatch(word)
    return (amount[2] or "").lower() if amount else None


def _is_clock(word: str) -> bool:
    day, _, time = word.rpartition("T")
    return bool(_CLOCK.fullmatch(time)) and (not day or bool(_DAY.fullmatch(day)))
