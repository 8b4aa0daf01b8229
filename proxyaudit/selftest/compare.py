"""What differs between a message that went direct and the same one through the proxy, in words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from proxyaudit.selftest.message import Message
from proxyaudit.selftest.script import PATH, Pair, Seen

_SHORT = 60


def rounds(pairs: Iterable[Pair]) -> Iterator[tuple[Seen, Seen]]:
    """Each round as it was direct and through the proxy."""
    for pair in pairs:
        yield from zip(pair.direct, pair.through, strict=True)


def unsound(pair: Pair) -> str:
    """Why the direct run proves nothing, or an empty text: it did not go as the script wants."""
    last = pair.script.rounds[-1]
    for seen in pair.direct:
        if pair.script.dark:
            if not seen.failed:
                return "the scripted upstream could be reached although it did not listen"
        elif seen.failed or seen.request is None or not seen.request.complete:
            return seen.failed or "the request did not reach the scripted upstream"
        elif seen.hung or seen.stalled is not None:
            return "the direct connection was too slow to compare with"
    final = pair.direct[-1]
    if pair.script.end == "complete" and not (final.response and final.response.complete):
        return "the direct answer did not come to its end"
    if last.leaves_at is not None and not final.gone:
        return "the upstream did not see a direct client leave"
    return ""


def request_differences(direct: Seen, through: Seen) -> Iterator[str]:
    """How the request at the upstream differs. `Host` may name the proxy or the upstream."""
    one, two = direct.request, through.request
    if one is None or two is None or through.sent is None:
        yield "the request did not reach the upstream"
        return
    if not two.complete:
        yield "the request did not reach the upstream in full"
    before, after = _named(one.first, direct.name), _named(two.first, through.name)
    if before != after:
        yield f"its first line is {_shown(after)} instead of {_shown(before)}"
    hosts = {_host_line(one), _host_line(through.sent)}
    yield from line_differences(
        one.lines, [_host_line(one) if line in hosts else line for line in two.lines]
    )
    yield from body_differences(one, two)


def arrival_differences(direct: Seen, through: Seen) -> Iterator[str]:
    """Whether the same request was understood by the upstream: its body, not its head."""
    one, two = direct.request, through.request
    if one is None or two is None:
        yield "the request did not reach the upstream"
        return
    if not two.complete:
        yield "the request did not reach the upstream in full"
    yield from body_differences(one, two)


def response_differences(direct: Seen, through: Seen) -> Iterator[str]:
    """How the response at the client differs: first line, headers, body. Not the chunks."""
    one, two = direct.response, through.response
    if one is not None and two is not None:
        if one.first != two.first and one.status == two.status:
            yield f"its first line is {_shown(two.first)} instead of {_shown(one.first)}"
        yield from line_differences(one.lines, two.lines)
    yield from answer_differences(direct, through)


def kept_differences(direct: Seen, through: Seen) -> Iterator[str]:
    """The same, but a proxy may add headers of its own."""
    one, two = direct.response, through.response
    if one is not None and two is not None:
        yield from line_differences(one.lines, two.lines, added=False)
    yield from answer_differences(direct, through)


def answer_differences(direct: Seen, through: Seen) -> Iterator[str]:
    """Whether the same answer was understood by the client: status, body, end; not its headers."""
    one, two = direct.response, through.response
    if through.failed:
        yield through.failed
    elif two is None or one is None:
        waits = ", which still waits for one" if through.hung else ""
        if one is not two:
            yield f"no answer reached the client{waits}"
    else:
        if one.status != two.status:
            yield f"status {two.status} arrived instead of {one.status}"
        yield from body_differences(one, two)
        if one.complete and not two.complete:
            yield "the answer did not come to its end"
        if two.surplus != one.surplus:
            yield f"{len(two.surplus)} bytes came behind the end of the answer"


def stream_differences(direct: Seen, through: Seen) -> Iterator[str]:
    """How a streamed answer differs: body, chunks, and whether each arrived at once."""
    yield from answer_differences(direct, through)
    if through.stalled is not None:
        sent = "the first byte" if through.stalled == 1 else f"the first {through.stalled} bytes"
        yield f"held back: {sent} of the body did not arrive before more was sent"
    if direct.response and through.response:
        yield from frame_differences(direct.response, through.response)


def line_differences(
    before: Sequence[bytes], after: Sequence[bytes], *, added: bool = True
) -> Iterator[str]:
    """How header lines differ: dropped, changed, in another case or order, and if wanted, added.

    Spaces around a value are no part of it (RFC 9110, section 5.5) and count as equal here.
    """
    before, after = [*map(_tidy, before)], [*map(_tidy, after)]
    if before == after:
        return
    gone = list((Counter(before) - Counter(after)).elements())
    fresh = list((Counter(after) - Counter(before)).elements())
    if not gone and not fresh:
        yield "the order of the headers was changed"
        return
    for line in gone:
        yield _fate(line, fresh)
    for line in fresh if added else ():
        yield f"the header {_shown(line)} was added"


def is_respaced(one: Message | None, two: Message | None) -> bool:
    """Whether header lines differ in nothing but spaces around their values."""
    if one is None or two is None:
        return False
    fresh = Counter(two.lines) - Counter(one.lines)
    known = {_tidy(line) for line in one.lines}
    return any(_tidy(line) in known and not line.lower().startswith(b"host:") for line in fresh)


def _tidy(line: bytes) -> bytes:
    name, colon, value = line.partition(b":")
    return name + colon + b" " + value.strip(b" \t")


def _fate(line: bytes, fresh: list[bytes]) -> str:
    """What became of a header line; its new form is taken out of those that are fresh."""
    name = line.partition(b":")[0]
    for other in fresh:
        named = other.partition(b":")[0]
        if named.lower() == name.lower():
            fresh.remove(other)
            if named != name:
                return f"the header {_shown(name)} is spelled {_shown(named)}"
            return f"the header {_shown(line)} became {_shown(other)}"
    return f"the header {_shown(line)} was dropped"


def body_differences(one: Message, two: Message) -> Iterator[str]:
    """How bodies differ, first of all in size."""
    before, after = one.body, two.body
    if before == after:
        return
    if len(before) != len(after):
        yield f"the body has {len(after)} bytes instead of {len(before)}"
        return
    at = next(n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
    yield f"the body differs from byte {at} on"


def frame_differences(one: Message, two: Message) -> Iterator[str]:
    """How the chunks of two bodies differ in number and size."""
    if one.framing != two.framing:
        yield f"the body is told by {two.framing!r} instead of {one.framing!r}"
        return
    before, after = [len(f) for f in one.frames], [len(f) for f in two.frames]
    if before == after:
        return
    if len(before) != len(after):
        yield f"{len(after)} chunks arrived instead of {len(before)}"
    else:
        at = next(n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
        yield f"chunk {at + 1} has {after[at]} bytes instead of {before[at]}"


def _named(first: bytes, name: str) -> bytes:
    """A request's first line without what is lawfully its own: path prefix and round."""
    method, _, rest = first.partition(b" ")
    _, found, path = rest.partition(PATH)
    return method + b" " + (found + path if found else rest).replace(name.encode(), b"ROUND")


def _host_line(message: Message) -> bytes:
    return next((line for line in message.lines if line.lower().startswith(b"host:")), b"")


def _shown(data: bytes) -> str:
    text = data.decode("latin-1")
    return repr(text if len(text) <= _SHORT else text[:_SHORT] + "…")
