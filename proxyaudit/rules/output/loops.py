"""Where a text runs in a circle: the same stretch of words over and over.

One pass over the words: the last place of each group of four gives the distance at which the text
may repeat, and a run counts for how long it does. A second pass with digits masked sees loops whose
counter goes on. What is laid out in lines by its nature (tables, code, rulers) is taken out first.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from proxyaudit.rules.reading import without_code

# Words, single letters of scripts without spaces, marks; a line end is a word too.
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+|[^\w\s]|\n")
_GROUP, _PERIOD, _RUN, _LONG_WORD = 4, 300, 60, 40
# Up to the token limit: so long a run, of so many rounds; rows and statements may well be alike.
_RUN_TO_LIMIT, _TIMES, _TIMES_OF_LINES = 24, 6, 20
_RULER = frozenset("-=_*~#.+|\\/─━═·•…\n")
# A table, fields between commas, a key with a value, a field of numbers, or a statement of code
# that stands outside a fence.
_ROW = re.compile(
    r"^\s*\|.*|^.*\|.*\|.*|^.*\t.*\t.*|^[^\s,]*(,[^\s,]*)+|^[\s\d.,:;%/+()-]+"
    r"|^\s*(- +)?[\w.-]+:(\s+\S+)?\s*"
)
_CODE = re.compile(
    r"^\s*<\w.*>\s*|^.*[;{}]\s*|^[^(]*\w\([^)]*\)[^=]*=.*|^.*[\w\])]\s*[+*/-]?=\s*\S.*|^\s*[\]})\[({]+,?\s*"
)


class Loop(NamedTuple):
    """`times` a stretch was said in a row, the first time included; `share` of the whole text.

    `text` is one round of it. `counts` says that digits differ from round to round; `at_end` that
    the text ends in it; `lines` that each round is a line or more.
    """

    times: int
    text: str
    share: float
    counts: bool
    at_end: bool
    lines: bool


def find_loop(text: str, *, cut: bool = False) -> Loop | None:
    """The longest loop of a text, an exact one before one that counts.

    `cut` says that the text ran into the token limit: then it is looked at as it is, tables and
    code and rulers too, and a shorter run is enough if the text ends in it.
    """
    words = _words(_plain(text))
    exact = _longest(words, words, _RUN, counts=False)
    exact = exact or (_endless(text) if cut else None)
    if exact is not None:
        return exact
    return _longest(words, [re.sub(r"\d+", "0", word) for word in words], _RUN, counts=True)


def _endless(text: str) -> Loop | None:
    """What a text went on with, word for word, until it was cut off."""
    words = _words(text)
    found = _longest(words, words, _RUN_TO_LIMIT, counts=False, rulers=True)
    if found is None or not found.at_end:
        return None
    return found if found.times >= (_TIMES_OF_LINES if found.lines else _TIMES) else None


def _plain(text: str) -> str:
    lines = without_code(text).split("\n")
    return "\n".join(line for line in lines if not _is_laid_out(line))


def _is_laid_out(line: str) -> bool:
    """A row or a statement; a line of a thousand characters is neither."""
    return len(line) <= 1000 and bool(_ROW.fullmatch(line) or _CODE.fullmatch(line))


def _words(text: str) -> list[str]:
    """A word of more than forty letters is no word: its letters are looked at one by one."""
    found: list[str] = []
    for word in _WORDS.findall(text):
        if len(word) > _LONG_WORD:
            found.extend(word)
        else:
            found.append(word)
    return found


def _longest(
    words: Sequence[str], keys: Sequence[str], run: int, *, counts: bool, rulers: bool = False
) -> Loop | None:
    best: tuple[int, int, int] | None = None
    for end, length, period in _runs(keys):
        if length < max(2 * period, run) or (best and length <= best[1]):
            continue
        if rulers or not _is_ruler(keys[end - period : end]):
            best = end, length, period
    if best is None:
        return None
    end, length, period = best
    once = words[end - period : end]
    rest = [word for word in words[end:] if word != "\n"]
    return Loop(
        1 + length // period,
        " ".join(once).strip(),
        (length + period) / len(words),
        counts,
        len(rest) < period,
        "\n" in once,
    )


def _runs(keys: Sequence[str]) -> list[tuple[int, int, int]]:
    """(end, length, period) of each stretch whose words equal those one period before."""
    runs: list[tuple[int, int, int]] = []
    last: dict[tuple[str, ...], int] = {}
    period = length = 0
    for at, word in enumerate(keys):
        if period and word == keys[at - period]:
            length += 1
        else:
            if length:
                runs.append((at, length, period))
            period = length = 0
        group = tuple(keys[at - _GROUP + 1 : at + 1])
        before = last.get(group) if len(group) == _GROUP else None
        if not period and before is not None and at - before <= _PERIOD:
            period, length = at - before, _GROUP
        last[group] = at
    if length:
        runs.append((len(keys), length, period))
    return runs


def _is_ruler(words: Sequence[str]) -> bool:
    return all(letter in _RULER for word in words for letter in word)
