"""Parts of a message that its counterpart does not have."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from proxyaudit.core.message import Media, Message, Part, Text, ToolResult

_PLACEHOLDER = re.compile(
    r"""^\W*(\w+\W+){0,3}(image|picture|photo|screenshot|file|attachment|media|audio|video|document
    |content|part|text|data)s?\b.{0,80}$
    | \b(omit|remov|strip|drop|elid|unsupported|not\ supported|placeholder|unavailable)""",
    re.IGNORECASE | re.VERBOSE,
)
_SHORT = 160
# The name is taken whole: tried again at every dash, a long one would cost its square.
_TAGGED = re.compile(r"\s*<([a-z][\w-]*+)\b[^>]*+>.*</\1>\s*", re.DOTALL | re.IGNORECASE)


def lost_parts(old: Message, new: Message) -> list[Part]:
    """Media that are gone, by kind, and text parts that are gone beside others that stayed."""
    return [*_lost_media(old, new), *_lost_texts(old, new)]


def media_of(messages: Sequence[Message]) -> Iterator[Media]:
    """All pictures, sounds and files, those in tool results among them."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Media):
                yield part
            elif isinstance(part, ToolResult):
                yield from part.media


def is_tagged(part: Part) -> bool:
    """Whether a text is one tagged block, as harnesses put their notes."""
    return isinstance(part, Text) and _TAGGED.fullmatch(part.text) is not None


def _lost_media(old: Message, new: Message) -> Iterator[Media]:
    """The data may be packed in another way on the right, so kinds are counted."""
    left, right = list(media_of([old])), list(media_of([new]))
    gone = Counter(m.kind for m in left) - Counter(m.kind for m in right)
    kept = {m.digest for m in right}
    for part in sorted(left, key=lambda m: m.digest in kept):
        if gone[part.kind] > 0:
            gone[part.kind] -= 1
            yield part


def _lost_texts(old: Message, new: Message) -> list[Text]:
    parts = [p for p in old.parts if isinstance(p, Text | Media)]
    if len(parts) < 2 or old.role == "tool":
        return []
    told = _flat(new.text)
    gone = [
        p for p in parts if isinstance(p, Text) and p.text.strip() and _flat(p.text) not in told
    ]
    return gone if gone and len(gone) < len(parts) and not _says_more(old, new, gone) else []


def _says_more(old: Message, new: Message, gone: Sequence[Text]) -> bool:
    """Whether there are new words on the right, beyond a placeholder: then it was rewritten."""
    rest = _flat(new.text)
    for part in old.parts:
        if isinstance(part, Text) and part not in gone:
            rest = rest.replace(_flat(part.text), "", 1)
    return bool(rest) and not (len(rest) < _SHORT and _PLACEHOLDER.search(_loose(new, old)))


def _loose(new: Message, old: Message) -> str:
    """What the right says that the left did not."""
    said = {p.text for p in old.parts if isinstance(p, Text)}
    return " ".join(p.text for p in new.parts if isinstance(p, Text) and p.text not in said)


def is_placeholder(old: Message, new: Message) -> bool:
    """Whether the words that are new on the right only stand for a part that is gone."""
    loose = _loose(new, old)
    return bool(loose) and len(loose) < _SHORT + len(old.text) and bool(_PLACEHOLDER.search(loose))


def _flat(text: str) -> str:
    return "".join(text.split())
