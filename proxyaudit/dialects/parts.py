"""Content parts of every dialect: text, media, reasoning and what nobody knows.

The dialects share these shapes more than they differ (a proxy that translates leaves parts of one
in the other), so one reader takes them all.
"""

from collections.abc import Iterator, Sequence

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import (
    Media,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolResult,
    canonical_json,
    digest,
)
from proxyaudit.dialects.fields import (
    as_object,
    as_text,
    is_blank,
    opaque,
    plain,
    value_of_text,
    word,
)

_TEXTS = {"text", "input_text", "output_text", "summary_text", "reasoning_text"}
_MEDIA = {
    "image_url": "image",
    "input_image": "image",
    "image": "image",
    "input_audio": "audio",
    "audio": "audio",
    "video_url": "video",
    "video": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
}
_DIGEST = "digest:"


def read_content(value: JSON, pointer: str) -> tuple[Part, ...]:
    """The parts of a content field: a string, a list or nothing. Empty text is no part."""
    if isinstance(value, list):
        found = (read_part(item, f"{pointer}/{at}") for at, item in enumerate(value))
        return tuple(part for part in found if part is not None)
    part = None if is_blank(value) else read_part(value, pointer)
    return () if part is None else (part,)


def read_part(item: JSON, pointer: str) -> Part | None:
    """One content part; None for a text that is empty."""
    if isinstance(item, str):
        return Text(item, pointer) if item else None
    if not isinstance(item, dict):
        return opaque("part", item, pointer)
    kind = as_text(item.get("type"))
    text = item.get("text")
    if kind in _TEXTS and isinstance(text, str):
        return Text(text, pointer) if text else None
    if kind in _MEDIA or kind == "media":
        return _media(kind, item, pointer)
    if kind == "refusal":
        return opaque("refusal", item.get("refusal"), pointer)
    if kind in ("thinking", "redacted_thinking"):
        return read_thinking(item, pointer)
    return opaque(kind or "part", item, pointer)


def read_thinking(item: JSONObject, pointer: str) -> Reasoning:
    """A thinking block; the data of a redacted one is its signature."""
    thought = item.get("thinking")
    text = thought if isinstance(thought, str) else joined_text(thought)
    return Reasoning(text, word(item.get("signature")) or word(item.get("data")), pointer)


def joined_text(value: JSON) -> str:
    """The text of a content field, its text parts joined without anything between them."""
    return "".join(part.text for part in read_content(value, "") if isinstance(part, Text))


def read_result(call_id: str, content: JSON, pointer: str) -> ToolResult:
    """The answer to a call. Whatever is no text in it counts as media, by its digest."""
    parts = read_content(content, pointer + "/content")
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return ToolResult(call_id, text, tuple(_as_media(parts)), pointer)


def _as_media(parts: Sequence[Part]) -> Iterator[Media]:
    for part in parts:
        if isinstance(part, Media):
            yield part
        elif isinstance(part, Opaque):
            yield Media(part.kind, digest(part.value), part.pointer)


def _media(kind: str, item: JSONObject, pointer: str) -> Media:
    address = as_text(item.get("address")) or _address(kind, item)
    known = address.startswith(_DIGEST)
    return Media(
        as_text(item.get("kind")) if kind == "media" else _MEDIA[kind],
        address.removeprefix(_DIGEST) if known else media_digest(address),
        pointer,
    )


def media_digest(address: str) -> str:
    """The digest of an address; of data in an address the data alone, as some formats send it."""
    head, mark, data = address.partition(";base64,")
    return digest(data if mark and head.startswith("data:") else address)


def _address(kind: str, item: JSONObject) -> str:
    """Where the data of a media part is, or the data itself; equal in all dialects."""
    inner = item.get(kind, item.get("source", item.get("image_url")))
    if isinstance(inner, str):
        return inner
    source = inner if isinstance(inner, dict) else item
    if isinstance(data := source.get("data"), str):
        form = as_text(source.get("media_type")) or f"{_MEDIA.get(kind)}/{source.get('format')}"
        return f"data:{form};base64,{data}"
    for key in ("url", "file_data", "file_id", "id", "file_url"):
        if isinstance(found := source.get(key), str):
            return found
    return canonical_json(plain(item))


def write_media(media: Media) -> JSONObject:
    """A media part in a shape of our own: only the digest of the data is known."""
    return {"type": "media", "kind": media.kind, "address": _DIGEST + media.digest}


def write_opaque(part: Opaque) -> JSON:
    """A part as it was sent; fields of a message are not parts, see `write_fields`."""
    value = value_of_text(part.value)
    return {"type": "refusal", "refusal": value} if part.kind == "refusal" else value


def write_fields(parts: Sequence[Part]) -> JSONObject:
    """The fields of a message that no dialect knows."""
    return {
        part.kind.removeprefix("field:"): value_of_text(part.value)
        for part in parts
        if isinstance(part, Opaque) and part.kind.startswith("field:")
    }


def write_content(parts: Sequence[Part], text_type: str) -> list[JSON]:
    """Texts, media and unknown parts as a list; calls, results, reasoning are no content here."""
    written: list[JSON] = []
    for part in parts:
        if isinstance(part, Text):
            written.append({"type": text_type, "text": part.text})
        elif isinstance(part, Media):
            written.append(write_media(part))
        elif isinstance(part, Opaque) and not part.kind.startswith("field:"):
            written.append(write_opaque(part))
    return written


def write_result(result: ToolResult, text_type: str) -> JSON:
    """The content of an answer to a call: a string where it holds nothing but text."""
    if not result.media:
        return result.text
    return write_content([Text(result.text), *result.media], text_type)


def simplest(content: list[JSON]) -> JSON:
    """A list that is one text as a string, as most clients send it."""
    only = as_object(content[0]) if len(content) == 1 else {}
    return only["text"] if set(only) == {"type", "text"} else content
