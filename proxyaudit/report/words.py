"""Two texts as one, word by word: [-what is gone-]{+what is new+}, readable without colour.

Long equal stretches are cut to their edges with the number of characters left out. White space that
changed is made visible, or the reader would see a change of nothing.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rapidfuzz.distance import Indel
from rich.text import Text

from proxyaudit.compare.align import common_prefix
from proxyaudit.compare.text import WordEdit, word_diff
from proxyaudit.report.parts import count
from proxyaudit.report.safe import safe

GONE, NEW, DIM = "red", "green", "dim"
# Characters of an equal stretch that stay beside a change, and of one changed stretch.
BESIDE, CHANGED = 60, 600
# An alignment takes memory and time by the product of both lengths, in words.
_AFFORDABLE = 100_000_000
_CHARACTERS_A_WORD = 4
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MARK = r"\[… ([\d,]+) equal characters …\]"
_AHEAD, _BEHIND = re.compile(f"^{_MARK} "), re.compile(f" {_MARK}$")
_VISIBLE = {" ": "·", "\t": "→", "\n": "↵\n", "\u00a0": "\\xa0", "\u3000": "\\u3000"}


class _Pair(NamedTuple):
    """Two texts, and how many equal characters were cut off before and behind them."""

    before: str
    after: str
    ahead: int = 0
    behind: int = 0


def word_text(before: str, after: str, *, whole: bool = False) -> Text:
    """Both texts in one. `whole`: nothing is left out."""
    pair = _without_marks(before, after)
    edits = tidy(edits_of(pair.before, pair.after))
    out = Text()
    for place, edit in enumerate(edits):
        if edit.kind == "equal":
            first, last = place == 0, place == len(edits) - 1
            _equal(out, edit.before, pair, first, last, whole)
        else:
            _changed(out, edit.before, "[-", "-]", GONE, whole)
            _changed(out, edit.after, "{+", "+}", NEW, whole)
    return out


def word_columns(before: str, after: str, *, whole: bool = False) -> tuple[Text, Text]:
    """Both texts, each for itself, with what the other one lacks marked. `whole`: nothing cut."""
    edits = tidy(edits_of(before, after))
    left, right = Text(), Text()
    for place, edit in enumerate(edits):
        if edit.kind == "equal":
            first, last = place == 0, place == len(edits) - 1
            for out in (left, right):
                _equal(out, edit.before, _Pair(before, after), first, last, whole)
        else:
            _changed(left, edit.before, "[-", "-]", GONE, whole)
            _changed(right, edit.after, "{+", "+}", NEW, whole)
    return left, right


def edits_of(before: str, after: str) -> list[WordEdit]:
    """Edits by words; by lines first where the texts are too long for that."""
    head = common_prefix(before, after)
    left, right = (len(text) - head for text in (before, after))
    if left * right <= _AFFORDABLE * _CHARACTERS_A_WORD**2:
        return word_diff(before, after)
    return list(_by_lines(_LINES.findall(before), _LINES.findall(after)))


def tidy(edits: Sequence[WordEdit]) -> list[WordEdit]:
    """Join changes that only a blank or a mark keeps apart: whole phrases read better."""
    out: list[WordEdit] = []
    for place, edit in enumerate(edits):
        between = 0 < place < len(edits) - 1 and edit.kind == "equal"
        if (between and _is_trifle(edit.before)) or (edit.kind != "equal" and _open(out)):
            last = out.pop()
            edit = WordEdit("replace", last.before + edit.before, last.after + edit.after)
        out.append(edit)
    return out


def visible_space(text: str) -> str:
    """White space as marks, where a text is nothing else."""
    return text if text.strip() else "".join(_VISIBLE.get(char, char) for char in text)


def _is_trifle(text: str) -> bool:
    return len(text) <= 3 and "\n" not in text and not any(char.isalnum() for char in text)


def _open(out: Sequence[WordEdit]) -> bool:
    return bool(out) and out[-1].kind != "equal"


def _without_marks(before: str, after: str) -> _Pair:
    """Evidence comes cut, with a note of how much was equal; the same note on both sides."""
    ahead, behind = _AHEAD.match(before), _BEHIND.search(before)
    if ahead and after.startswith(ahead.group()):
        before, after = before[ahead.end() :], after[ahead.end() :]
    else:
        ahead = None
    if behind and after.endswith(behind.group()):
        size = len(behind.group())
        before, after = before[:-size], after[:-size]
    else:
        behind = None
    return _Pair(before, after, _number(ahead), _number(behind))


def _number(match: re.Match[str] | None) -> int:
    return int(match.group(1).replace(",", "")) if match else 0


def _by_lines(left: Sequence[str], right: Sequence[str]) -> Iterator[WordEdit]:
    cost = len(left) * len(right)
    if cost > _AFFORDABLE:
        yield WordEdit("replace", "".join(left), "".join(right))
        return
    ops = Indel.opcodes(left, right)
    for equal, group in groupby(ops, key=lambda op: op.tag == "equal"):
        run = list(group)
        old = "".join(left[run[0].src_start : run[-1].src_end])
        new = "".join(right[run[0].dest_start : run[-1].dest_end])
        if equal:
            yield WordEdit("equal", old, new)
        elif len(old) * len(new) <= _AFFORDABLE * _CHARACTERS_A_WORD**2:
            yield from word_diff(old, new)
        else:
            yield WordEdit("replace", old, new)


def _changed(out: Text, text: str, start: str, end: str, style: str, whole: bool) -> None:
    if not text:
        return
    if not whole and len(text) > CHANGED + 40:
        half = CHANGED // 2
        left_out = f" … {len(text) - CHANGED:,} characters … "
        shown = safe(text[:half]) + left_out + safe(text[-half:])
    else:
        shown = safe(visible_space(text))
    out.append(f"{start}{shown}{end}", style)


def _equal(out: Text, text: str, pair: _Pair, first: bool, last: bool, whole: bool) -> None:
    """An equal stretch: its end before a change, its beginning after one."""
    extra = pair.ahead * first + pair.behind * last
    if (whole or len(text) <= 2 * BESIDE + 40) and not extra:
        out.append(safe(text))
        return
    head = "" if first else text[: _word_end(text, BESIDE)]
    tail = "" if last else text[_word_start(text, len(text) - BESIDE) :]
    if first and last:
        head = text[:BESIDE]
    elif len(head) + len(tail) >= len(text):
        # Short itself, and cut only by whoever wrote the evidence.
        head, tail = ("", text) if first else (text, "")
    left_out = len(text) - len(head) - len(tail) + extra
    out.append(safe(head))
    if left_out:
        note = f"… {count(left_out, 'character')} equal …"
        out.append(f"{'' if first else ' '}{note}{'' if last else ' '}", DIM)
    out.append(safe(tail))


def _word_end(text: str, at: int) -> int:
    """`at`, moved back to the end of a word if one is near."""
    if at >= len(text):
        return len(text)
    space = text.rfind(" ", max(0, at - 20), at)
    return at if space < 0 else space


def _word_start(text: str, at: int) -> int:
    """`at`, moved on to the start of a word if one is near."""
    if at <= 0:
        return 0
    space = text.find(" ", at, at + 20)
    return at if space < 0 else space + 1
