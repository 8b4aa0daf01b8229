"""Which recordings there are, and which one a user means."""

import difflib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proxyaudit.core.errors import UserError
from proxyaudit.store.read import kind_of
from proxyaudit.store.scan import plain, split_lines
from proxyaudit.store.schema import HeadLine, MetaFile
from proxyaudit.store.segments import META, is_recording, segments

ROOT = Path("recordings")
LATEST = "latest"
_SUFFIXES = (".jsonl", ".jsonl.zst", ".flow", ".har")
_PHASE = b'{"format":"proxyaudit.exchange/1","phase":"'


@dataclass(frozen=True, slots=True)
class Found:
    """A recording that was found. `created` is in seconds since the epoch.

    `exchanges` counts requests, ended or not; None where counting would mean a full import.
    """

    name: str
    path: Path
    created: float
    exchanges: int | None


def find_recordings(root: Path = ROOT) -> list[Found]:
    """The recordings right under a folder, oldest first; none if there is no such folder."""
    found = (Found(p.name, p, created_at(p), count_exchanges(p)) for p in _candidates(root))
    return sorted(found, key=_age)


def resolve(name_or_path: str, root: Path = ROOT) -> Path:
    """The path a user means: a path, the bare name of a recording under `root`, or `latest`.

    Raises UserError with the nearest names if there is none.
    """
    path = Path(name_or_path)
    if path.is_file() or is_recording(path):
        return path
    if name_or_path == LATEST and (newest := _newest(root)):
        return newest
    for named in (root / name_or_path, *(root / (name_or_path + end) for end in _SUFFIXES)):
        if named.is_file() or is_recording(named):
            return named
    if path.is_dir():
        return path
    raise UserError(f"there is no recording {name_or_path!r}", _suggestion(name_or_path, root))


def created_at(path: Path) -> float:
    """When a recording was begun, in seconds since the epoch: as it says, or its file's time."""
    if path.is_dir():
        try:
            created = MetaFile.model_validate_json((path / META).read_bytes()).created
        except (OSError, ValueError):
            created = None
        if created is not None:
            return created
    return path.stat().st_mtime


def count_exchanges(path: Path) -> int | None:
    """How many requests a recording holds; None for files of other programs or unreadable ones."""
    try:
        kind = kind_of(path)
        if kind not in ("folder", "lines"):
            return None
        files = segments(path) if kind == "folder" else [path]
        return sum(_count_lines(file) for file in files)
    except (UserError, OSError):
        return None


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(_begins_exchange(line) for line, _ in split_lines(plain(file, [])))


def _begins_exchange(line: bytes) -> bool:
    # Lines of our own writer tell it at their start: parsing them all would take far longer.
    if line.startswith(_PHASE):
        return line.startswith(b"request", len(_PHASE)) and line.endswith(b"}")
    try:
        head = HeadLine.model_validate_json(line)
    except ValueError:
        return False
    return head.phase != "response"


def _candidates(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return [p for p in root.iterdir() if is_recording(p) or _is_plain_recording(p)]


def _is_plain_recording(path: Path) -> bool:
    return path.is_file() and path.name.endswith(_SUFFIXES)


def _age(found: Found) -> tuple[float, str]:
    return found.created, found.name


def _newest(root: Path) -> Path | None:
    """What `latest` means: the newest that was recorded and is not empty; a replay only if there
    is nothing else, for one looks at a replay by its name."""
    aged = sorted(((created_at(p), p.name, p) for p in _candidates(root)), reverse=True)
    paths = [path for _, _, path in aged]
    recorded = (p for p in paths if not is_replay(p) and count_exchanges(p) != 0)
    return next(recorded, paths[0] if paths else None)


def is_replay(path: Path) -> bool:
    """Whether a recording holds what a replay got, not what an agent did."""
    try:
        return "replay_of" in MetaFile.model_validate_json((path / META).read_bytes()).about
    except (OSError, ValueError):
        return False


def remove_if_empty(folder: Path) -> bool:
    """Remove a recording that holds nothing, so that it does not stand among the others."""
    if not is_recording(folder) or count_exchanges(folder) != 0:
        return False
    for file in (folder / META, *segments(folder)):
        file.unlink(missing_ok=True)
    with suppress(OSError):  # somebody put something of their own into it
        folder.rmdir()
    return True


def _suggestion(name: str, root: Path) -> str:
    names = sorted(path.name for path in _candidates(root))
    if not names:
        return f"{root}/ holds none yet: `proxyaudit record` or `proxyaudit demo` makes one"
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or names[-3:]
    return "did you mean " + " or ".join(near) + "? `proxyaudit list` shows all"
