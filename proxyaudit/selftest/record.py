"""What differs between what was on the wire and what stands in the recording, in words."""

from collections.abc import Iterator

from proxyaudit.core.exchange import Headers

_SECRET = "[redacted "  # noqa: S105 - how a replaced secret begins


def header_differences(sent: Headers, kept: Headers) -> Iterator[str]:
    """Names in order, and values but for those that were replaced because they are secrets."""
    names, recorded = [name for name, _ in sent], [name for name, _ in kept]
    if names != recorded:
        odd = sorted(set(names) ^ set(recorded))
        yield f"the recorded headers differ: {', '.join(odd) or 'their order'}"
        return
    for (name, value), (_, other) in zip(sent, kept, strict=True):
        if value != other and _SECRET not in other and value.isascii():
            yield f"the header {name} is recorded with another value"


def body_difference(sent: bytes, kept: bytes) -> str:
    """An empty text where they are equal."""
    if sent == kept:
        return ""
    return f"a body of {len(sent)} bytes is recorded as {len(kept)} others"
