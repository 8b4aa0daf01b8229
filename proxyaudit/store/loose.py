"""Values out of JSON that others wrote: what has another type than it should counts as absent."""

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from proxyaudit.core.exchange import Headers
from proxyaudit.wire.content import decoded

_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODING, _LENGTH = "content-encoding", "content-length"


def parsed(raw: bytes) -> Any:
    """A JSON value; ValueError with a plain sentence if there is none.

    Lone surrogates and NaN are taken: other writers write them.
    """
    try:
        return json.loads(raw)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def written(value: Any) -> bytes:
    """A JSON value as compact JSON, keys in their order; ValueError if it is nested too deeply."""
    try:
        return to_bytes(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: Any, default: str = "") -> str:
    return value if isinstance(value, str) else default


def number(value: Any) -> float | None:
    """A finite number; a boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def status_of(value: Any) -> int | None:
    """An HTTP status; None for 0, which stands for "no answer", and for what is none."""
    code = number(value)
    return int(code) if code is not None and 100 <= code <= 999 else None


def moment(value: Any) -> float | None:
    """Seconds since the epoch, from a number of them or ISO 8601 (without a zone: UTC)."""
    if not isinstance(value, str):
        return number(value)
    try:
        at = datetime.fromisoformat(value.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def to_bytes(body: str) -> bytes:
    """Text as the bytes it stood for: UTF-8, with those bytes that surrogates were written for."""
    try:
        return body.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", body).encode()


def header_pairs(value: Any) -> Headers:
    """Headers out of a list of {name, value}, a list of pairs, or an object; in their order.

    Pseudo headers of HTTP/2 are left out: method and URL are told elsewhere.
    """
    pairs = list(value.items()) if isinstance(value, dict) else [_pair(i) for i in items(value)]
    told = [(n, v) for n, v in pairs if isinstance(n, str) and n and not n.startswith(":")]
    return tuple((n, line) for n, v in told for line in _lines(v))


def _pair(item: Any) -> tuple[Any, Any]:
    if isinstance(item, list) and len(item) == 2:
        return item[0], item[1]
    return table(item).get("name"), table(item).get("value")


def _lines(value: Any) -> list[str]:
    """One value, or several where an object holds a repeated header as a list."""
    every = value if isinstance(value, list) else [value]
    return [str(v) if number(v) is not None else text(v) for v in every if v is not None]


def as_stored(headers: Headers, body: bytes, *, is_text: bool) -> tuple[Headers, bool]:
    """The headers that fit a body as it was stored, and whether some were left out for that.

    Texts are stored decoded beside the header that says how they were encoded on the wire. To
    keep it would make every such body look damaged.
    """
    names = {name.lower() for name, _ in headers}
    if _ENCODING not in names or not body:
        return headers, False
    if not is_text and decoded(headers, body).fault is None:
        return headers, False
    return tuple((n, v) for n, v in headers if n.lower() not in (_ENCODING, _LENGTH)), True
