"""The compact bundle of claude-tap: one JSON document whose repeated parts are kept once."""

from collections.abc import Iterator
from typing import Any

from proxyaudit.core.recording import Flaw
from proxyaudit.store.loose import items, parsed, table, text

MARK = "__claude_tap_compact_trace__"
_RECORD = "__claude_tap_compact_record__"
_BLOB = "__claude_tap_blob_ref__"


def records_of(raw: bytes, name: str, flaws: list[Flaw]) -> Iterator[tuple[int, Any]]:
    """Number from 1 and record, its parts put back; a part that is missing becomes a flaw."""
    try:
        bundle = table(parsed(raw))
    except ValueError as error:
        flaws.append(Flaw(name, f"not JSON, perhaps torn ({error})"))
        return
    blobs = table(bundle.get("blobs"))
    for place, packed in enumerate(items(bundle.get("records")), 1):
        record = table(packed)
        try:
            yield place, _whole(record["record"] if _RECORD in record else record, blobs)
        except KeyError as error:
            flaws.append(Flaw(f"{name}:record {place}", f"not read: part {error} is missing"))
        except RecursionError:
            flaws.append(Flaw(f"{name}:record {place}", "not read: nested too deeply"))


def _whole(value: Any, blobs: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_whole(item, blobs) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_BLOB}:
        return table(blobs[text(table(value[_BLOB]).get("hash"))])["payload"]
    return {key: _whole(item, blobs) for key, item in value.items()}
