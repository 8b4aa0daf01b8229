"""The files of a recording folder: `meta.json` and numbered segments."""

import re
from pathlib import Path

META = "meta.json"
_SEGMENT = re.compile(r"exchanges-(\d+)\.jsonl(\.zst)?")


def segment_number(path: Path) -> int | None:
    """The number of a segment; None for any other file."""
    match = _SEGMENT.fullmatch(path.name)
    return int(match[1]) if match else None


def segments(folder: Path) -> list[Path]:
    """The segments of a recording, oldest first."""
    numbered = ((segment_number(path), path) for path in folder.iterdir())
    return [path for _, path in sorted((n, path) for n, path in numbered if n is not None)]


def is_recording(folder: Path) -> bool:
    """Whether a path is a folder that a recorder wrote."""
    return folder.is_dir() and ((folder / META).is_file() or bool(segments(folder)))
