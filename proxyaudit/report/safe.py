"""Make text from traffic harmless before it reaches a terminal.

A model, a tool or a server can put escape sequences into its text: to clear the screen, to set the
clipboard, to write over the line that accuses it, or, with characters that nobody sees, to hide an
instruction. All of them become visible escapes such as \\x1b or \\u202e. Nothing else is changed.
"""

import re
import unicodedata

# Control, format (bidirectional marks, zero width, tags), surrogate, line and paragraph separator.
_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Supplementary variation selectors: invisible, and able to carry a whole message.
_SELECTORS = range(0xE0100, 0xE01F0)
_SUSPICIOUS = re.compile(r"[^\n\t\x20-\x7e]")
_SPACE = re.compile(r"\s+")


def is_harmful(char: str) -> bool:
    """Whether a terminal would obey the character, or not show it."""
    if char in "\n\t":
        return False
    return unicodedata.category(char) in _HARMFUL or ord(char) in _SELECTORS


def escaped(char: str) -> str:
    """A character as Python writes it in a string: \\x1b, \\u202e, \\U000e0041."""
    code = ord(char)
    named = {"\r": "\\r", "\b": "\\b", "\a": "\\a"}.get(char)
    if named:
        return named
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe(text: str) -> str:
    """The text with harmful characters made visible; line ends and tabs stay."""
    return _SUSPICIOUS.sub(_visible, text)


def safe_line(text: str, limit: int | None = None) -> str:
    """The text on one line: white space run together, harmless, cut at `limit` characters."""
    line = safe(_SPACE.sub(" ", text).strip())
    if limit is not None and len(line) > limit:
        return line[: limit - 1].rstrip() + "…"
    return line


def safe_json(document: str) -> str:
    """JSON text with harmful characters as JSON escapes: the same value, harmless to print."""
    return _SUSPICIOUS.sub(_json_escape, document)


def _visible(match: re.Match[str]) -> str:
    char = match.group()
    return escaped(char) if is_harmful(char) else char


def _json_escape(match: re.Match[str]) -> str:
    char = match.group()
    if not is_harmful(char):
        return char
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
