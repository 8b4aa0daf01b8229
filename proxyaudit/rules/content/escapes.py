"""Whether a text is another one with its escapes applied once more."""

import html
import re

_JSON = re.compile(r'\\(u[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?|["\\/bfnrt])')
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def escaped_again(old: str, new: str) -> str | None:
    """How `new` came from `old`: "JSON" or "HTML" escapes; None if it is no such thing.

    A part of the escapes is enough: some proxies escape line ends and leave quotes alone.
    """
    if len(new) <= len(old) or not old:
        return None
    if "\\" in new and _json(old, new):
        return "JSON"
    if "&" in new and html.unescape(new) == old:
        return "HTML"
    return None


def _json(old: str, new: str) -> bool:
    inner = new[1:-1] if new.startswith('"') and new.endswith('"') and old[:1] != '"' else new
    if old in (_undone(new), _undone(inner)):
        return True
    # Only some kinds of escapes were applied: then both come out alike once all are undone.
    return new.count("\\") > old.count("\\") and _undone(new) == _undone(old)


def _undone(text: str) -> str:
    return _JSON.sub(_letter, text)


def _letter(match: re.Match[str]) -> str:
    word = match[1]
    if word[0] != "u":
        return _LETTERS.get(word, word)
    units = [int(word[1:5], 16), *([int(word[7:], 16)] if len(word) > 5 else [])]
    raw = b"".join(unit.to_bytes(2, "big") for unit in units)
    return raw.decode("utf-16-be", "surrogatepass")
