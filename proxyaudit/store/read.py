"""Read recordings: folders, plain or compressed JSON Lines, and the files of other programs."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Assume, Flaw, Recording
from proxyaudit.store.clock import in_order
from proxyaudit.store.flow import iter_flows
from proxyaudit.store.har import iter_har
from proxyaudit.store.lines import Opening, from_line
from proxyaudit.store.scan import Scan, plain, split_lines
from proxyaudit.store.schema import RECORDING, FormatLine, MetaFile
from proxyaudit.store.segments import META, is_recording, segments
from proxyaudit.store.shelf import Shelf
from proxyaudit.store.sniff import EMPTY, KINDS, ONE_LINE, FileKind, kind_of_file, trace_shape
from proxyaudit.store.traces import iter_traces

type Kind = Literal["folder"] | FileKind


def open_recording(path: Path) -> Recording:
    """A whole recording in memory, exchanges in order of start (also where the clock went back).

    A recording that is larger than `shelf.ROOM` is kept packed: it takes the room of what its
    bodies do not share. What cannot be read becomes a flaw. Raises UserError where there is no
    recording, not one exchange in it, or a version of the format that is not known.
    """
    scan, shelf = Scan(), Shelf()
    found = in_order(map(shelf.put, _read(path, scan)), scan.flaws)
    return Recording(str(path), found, scan.assume, tuple(scan.flaws), scan.about)


def iter_exchanges(path: Path, flaws: list[Flaw] | None = None) -> Iterator[Exchange]:
    """The exchanges of a recording one by one in the order in which they ended.

    Those that never ended come last. Needs the memory of the requests under way and of one zstd
    window, however long the recording is. What cannot be read is added to `flaws`. Raises
    UserError as `open_recording` does, when the first exchange is asked for or at the end.
    """
    return _read(path, Scan(flaws=[] if flaws is None else flaws))


def read_assume(path: Path) -> Assume:
    """The facts that a recording states, without reading its exchanges; defaults if it has none."""
    scan = Scan()
    match kind_of(path):
        case "folder":
            _read_meta(path, scan)
        case "lines":
            with path.open("rb") as file:
                for raw, _ in islice(split_lines(plain(file, [])), 1):
                    scan.assume = _opening(raw)
        case _:
            pass
    return scan.assume


def kind_of(path: Path) -> Kind:
    """What a path holds, by its content; raises UserError if it cannot be a recording."""
    if path.is_dir():
        if is_recording(path):
            return "folder"
        raise UserError(f"{path} holds no recording", _hint_for_folder(path))
    try:
        return kind_of_file(path)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist", "`proxyaudit list` shows what there is") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


def _read(path: Path, scan: Scan) -> Iterator[Exchange]:
    kind = kind_of(path)
    match kind:
        case "folder":
            _read_meta(path, scan)
            found = scan.exchanges(segments(path))
        case "lines":
            found = scan.exchanges([path])
        case "flow":
            found = iter_flows(path, scan.flaws)
        case "har":
            found = iter_har(path, scan.flaws)
        case "trace":
            found = scan.unique(iter_traces(path, trace_shape(path), scan.flaws), path.name)
    empty = True
    for exchange in found:
        empty = False
        yield exchange
    if empty:
        why = f" ({scan.flaws[0].where}: {scan.flaws[0].message})" if scan.flaws else ""
        raise UserError(f"{path} holds no exchange{why}", _hint_for_nothing(kind, scan.flaws))


def _read_meta(folder: Path, scan: Scan) -> None:
    meta = folder / META
    try:
        raw = meta.read_bytes()
        name = FormatLine.model_validate_json(raw).format
        if name != RECORDING:
            raise UserError(
                f"{meta} has format {name!r}; this version reads {RECORDING}",
                "a newer proxyaudit may have written it: update proxyaudit",
            )
        known = MetaFile.model_validate_json(raw)
        scan.assume = known.assume
        scan.about = known.about
        scan.flaws += [flaw.value() for flaw in known.flaws]
    except FileNotFoundError:
        scan.flaws.append(Flaw(META, "missing; what the user stated in it is not known"))
    except ValueError:
        scan.flaws.append(Flaw(META, "damaged; what the user stated in it is not known"))


def _opening(raw: bytes) -> Assume:
    try:
        line = from_line(raw)
    except ValueError:
        return Assume()
    return line.assume if isinstance(line, Opening) else Assume()


def _hint_for_nothing(kind: Kind, flaws: list[Flaw]) -> str:
    if kind == "folder" and not flaws:
        return EMPTY
    # A first line that breaks off although others follow: one JSON value written over many lines.
    broken = len(flaws) > 1 and "EOF while parsing" in flaws[0].message
    return ONE_LINE if kind == "lines" and broken else KINDS


def _hint_for_folder(folder: Path) -> str:
    inside = sorted(folder.iterdir())
    usable = [
        p for p in inside if is_recording(p) or p.suffix in {".jsonl", ".zst", ".flow", ".har"}
    ]
    if not usable:
        return KINDS
    return "name one of those in it: " + ", ".join(str(path) for path in usable[:5])
