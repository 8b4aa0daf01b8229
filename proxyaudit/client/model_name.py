"""Put another model name into a raw JSON body, touching no other byte.

Parsing and writing the body again would change spacing, number spelling, escapes and duplicate
keys, and with them what a server caches or a template prints.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

# A string, one structural mark, a run of anything else (numbers, words), or a torn string to the
# end. Possessive quantifiers, and that last, keep a torn string from costing more than one pass.
_TOKEN = re.compile(
    rb'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")|(?P<mark>[{}\[\],:])|[^\s"{}\[\],:]++|".*', re.DOTALL
)
_DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}
_ENDS = frozenset({b",", b"}", b"]"})


class _Span(NamedTuple):
    start: int
    end: int


def with_model(body: bytes, name: str) -> bytes | None:
    """The body with every top-level "model" value replaced by `name`; None if it has none.

    Keys are compared after undoing escapes ("mod\\u0065l" is a model key too). Of duplicate keys
    all are replaced, as servers differ in which one they take. Keys of nested objects are left.
    """
    spans = list(_model_values(body))
    if not spans:
        return None
    fresh = json.dumps(name).encode("ascii")
    pieces, at = [], 0
    for span in spans:
        pieces += [body[at : span.start], fresh]
        at = span.end
    return b"".join([*pieces, body[at:]])


def _model_values(body: bytes) -> Iterator[_Span]:
    """Where the values of top-level "model" keys stand, in order; stops where JSON ends."""
    tokens = _TOKEN.finditer(body)
    first = next(tokens, None)
    if first is None or first.group() != b"{":
        return
    for key in tokens:
        colon = next(tokens, None)
        if colon is None or colon.group() != b":":
            return
        span, closing = _value(tokens)
        if span and _is_model(key.group()):
            yield span
        if closing != b",":
            return


def _value(tokens: Iterator[re.Match[bytes]]) -> tuple[_Span | None, bytes]:
    """A member's value, and the mark that ends the member; consumes both."""
    depth, start, end = 0, -1, -1
    for token in tokens:
        text = token.group()
        if depth == 0 and text in _ENDS:
            return (_Span(start, end) if start >= 0 else None), text
        depth += _DEPTH.get(text, 0)
        start = token.start() if start < 0 else start
        end = token.end()
    return None, b""


def _is_model(key: bytes) -> bool:
    try:
        return bool(json.loads(key) == "model")
    except ValueError:
        return False
