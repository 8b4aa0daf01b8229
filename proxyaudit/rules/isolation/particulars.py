"""Words that point at one thing: codes, numbers, addresses, and names in the middle of a sentence.

Common words, dates, times, versions, sizes and standards point at nothing: two conversations may
well hold the same of those by chance.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

_TOKEN = re.compile(r"[^\W_][\w@./:-]*")
_IN_GROUPS = re.compile(r"(?<![\w.])\d{2,5}(?: \d{2,5}){1,3}(?![\w.])")
_DIGITS, _LONG_NUMBER, _PHONE, _NAME = 3, 5, 8, 4
_COMMON = re.compile(
    r"""\d{4}-\d{2}(-\d{2})?(t.*)? | \d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}
    | \d{1,2}([:.]\d\d){1,2}(am|pm|z)?
    | v?\d+(\.\d+)+[\w.+-]* | [12]\d{3}s? | \d+[-x×]\d+ | \d+(\.\d+)?[a-z]{1,4}
    | (utf|sha|md|rfc|iso|ieee|cve|http|https|gpt|claude|llama|qwen|base|ascii|cp|windows|win|arm
       |python|py|es|ecma|ts|e|err|errno|h|mp|ipv|x|f|u|i|int|uint|float|q|localhost|port)
      [-_/.:]?\d[\w.:/-]*
    | \d+0{2,} | (127|10|192\.168)\..* | .*://.*""",
    re.IGNORECASE | re.VERBOSE,
)
_CALENDAR = re.compile(
    r"""(mon|tues|wednes|thurs|fri|satur|sun)days?
    |january|february|march|april|june|july|august|september|october|november|december""",
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(r"[a-z0-9,;'’)]\s*\Z")
_WORD = re.compile(r"[^\W\d_]{4,}")


class Particular(NamedTuple):
    """A word in lower case. A code is rarer than a name."""

    word: str
    kind: Literal["code", "name"]


def particulars(text: str) -> Iterator[Particular]:
    """The particulars of a text, each as often as it stands there; numbers in groups first.

    A word that opens a sentence is a name if one follows it: of "Odalys Fenwright pays." both are.
    """
    for number in _IN_GROUPS.finditer(text):
        if _is_phone(number[0].split()):
            yield Particular(number[0], "code")
    opening: tuple[int, str] | None = None
    for match in _TOKEN.finditer(text):
        start, token = match.start(), match[0].rstrip(".:/-")
        before, opening = opening, None
        if _is_code(token):
            yield Particular(token.casefold(), "code")
        elif _is_name(token) and _BETWEEN.search(text[max(0, start - 3) : start]):
            if before and before[0] + 1 == start:
                yield Particular(before[1].casefold(), "name")
            yield Particular(token.removesuffix("’s").casefold(), "name")
        elif _is_name(token):
            opening = match.end(), token


def _is_phone(groups: Sequence[str]) -> bool:
    """Groups of digits as of a telephone or an account, not a row of small or of round numbers."""
    many = sum(map(len, groups)) >= _PHONE and max(map(len, groups)) >= _DIGITS
    return many and not all(group.endswith("0") for group in groups)


def content_words(text: str) -> set[str]:
    """Words of four letters or more: what a text speaks of."""
    return set(_WORD.findall(text.casefold()))


def _is_code(token: str) -> bool:
    if "@" in token[1:-1] and "." in token:
        return True
    if token.isalpha() or len(token) > 64 or _COMMON.fullmatch(token):
        return False
    digits = sum(letter.isdigit() for letter in token)
    if token.isdecimal():
        return digits >= _LONG_NUMBER
    return digits >= _DIGITS and any(letter.isalpha() for letter in token)


def _is_name(token: str) -> bool:
    plain = len(token) >= _NAME and token.isalpha() and token[0].isupper() and token[1:].islower()
    return plain and not _CALENDAR.fullmatch(token)
