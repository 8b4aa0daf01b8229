"""Make one recording out of files that other programs wrote."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange, Tap
from proxyaudit.core.recording import Assume, Flaw
from proxyaudit.dialects.glance import glance
from proxyaudit.dialects.read import NotATurn
from proxyaudit.report.import_text import ImportedFile
from proxyaudit.store.read import iter_exchanges, kind_of, read_assume


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and the tap that it was seen at; None: as it says itself, else the client tap."""

    path: Path
    tap: Tap | None = None


class Writer(Protocol):
    """Where the recording goes."""

    def whole(self, exchange: Exchange) -> None: ...

    def flaws(self, flaws: Sequence[Flaw]) -> None: ...

    def close(self) -> None: ...


def import_files(
    sources: Sequence[Source], open_writer: Callable[[Assume], Writer]
) -> list[ImportedFile]:
    """Read the files one after the other, and write their exchanges as they come.

    `open_writer` is called with the stated facts once there is something to write. A file that
    cannot be read says so in its result; if it is the only one, its UserError is raised.
    """
    joined = _Joined(open_writer, sources)
    results = []
    try:
        for source in sources:
            try:
                results.append(joined.add(source))
            except UserError as error:
                if len(sources) == 1:
                    raise
                results.append(ImportedFile(str(source.path), problem=_told(error)))
        joined.tell([flaw for one in results for flaw in one.flaws])
    finally:
        joined.close()
    return results


def facts_of(sources: Sequence[Source]) -> Assume:
    """What the files state, the first to state a fact being right; files without facts are fine."""
    facts: dict[str, object] = {}
    for source in sources:
        try:
            stated = read_assume(source.path).model_dump(exclude_defaults=True)
        except (UserError, OSError):
            continue
        facts = {**stated, **facts}
    return Assume.model_validate(facts)


@dataclass(slots=True)
class _Joined:
    """The recording while it grows: its writer, once there is one, and the ids in use."""

    open_writer: Callable[[Assume], Writer]
    sources: Sequence[Source]
    writer: Writer | None = None
    ids: set[str] = field(default_factory=set)

    def add(self, source: Source) -> ImportedFile:
        result = ImportedFile(str(source.path), kind_of(source.path))
        for exchange in self._read(source, result):
            if self.writer is None:
                self.writer = self.open_writer(facts_of(self.sources))
            self.writer.whole(exchange)
        return result

    def tell(self, flaws: Sequence[Flaw]) -> None:
        if self.writer is not None and flaws:
            self.writer.flaws(flaws)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()

    def _read(self, source: Source, result: ImportedFile) -> Iterator[Exchange]:
        for exchange in iter_exchanges(source.path, result.flaws):
            tap = source.tap or exchange.tap
            result.taps[tap] += 1
            seen = glance(exchange)
            if isinstance(seen, NotATurn):
                result.other[seen.reason] += 1
            else:
                result.turns += 1
            yield replace(exchange, tap=tap, id=self._unique(exchange.id))

    def _unique(self, wanted: str) -> str:
        """The id, or a fresh one where another file has it: places must be unique."""
        id_, number = wanted, 1
        while id_ in self.ids:
            number += 1
            id_ = f"{wanted}~{number}"
        self.ids.add(id_)
        return id_


def _told(error: UserError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
