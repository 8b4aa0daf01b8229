"""A comparison as text: messages in rows, changed ones word by word."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import Message
from proxyaudit.report.message_text import message_rows, script
from proxyaudit.report.parts import Barred, count, grid, indented
from proxyaudit.report.places import turn_of
from proxyaudit.report.safe import safe_line
from proxyaudit.report.sidebyside import Row, RowKind, rows
from proxyaudit.report.words import GONE, NEW, word_text

SIGNS: dict[RowKind, tuple[str, str]] = {
    "equal": ("=", "dim"),
    "reasoning": ("≈", "cyan"),
    "rewritten": ("~", "yellow"),
    "role_changed": ("~", "yellow"),
    "merged": ("~", "yellow"),
    "moved": (">", "yellow"),
    "dropped": ("-", GONE),
    "added": ("+", "yellow"),
    "duplicated": ("+", "yellow"),
    "grown": ("+", NEW),
}
WORDS: dict[RowKind, str] = {
    "reasoning": "same message, other reasoning",
    "rewritten": "rewritten",
    "role_changed": "role changed",
    "merged": "merged",
    "moved": "moved",
    "dropped": "gone",
    "added": "put in",
    "duplicated": "a repetition",
    "grown": "new",
}
_SIDES = {
    Relation.NEXT_TURN: ("the history and the reply of", "the history of"),
    Relation.FORWARDED: ("the request at the client tap of", "the request at the upstream tap of"),
    Relation.RETURNED: ("the reply at the upstream tap of", "the reply at the client tap of"),
    Relation.REPLAYED: ("the recorded reply of", "the replayed reply of"),
    Relation.SAME_TURN: ("on the left,", "on the right,"),
}


def diff_text(
    found: Comparison,
    numbers: Mapping[str, int],
    *,
    whole: bool = False,
    titles: tuple[str, str] | None = None,
) -> RenderableType:
    """Both sides in rows. Runs of equal messages are folded unless `whole`."""
    parts: list[RenderableType] = [title(found, numbers, titles), Text("")]
    for run in runs(rows(found)):
        if run[0].kind == "equal" and len(run) > 2 and not whole:
            parts.append(indented(_folded(run)))
        else:
            parts += (_row(row, found, whole) for row in run)
    return Group(*parts)


def title(
    found: Comparison, numbers: Mapping[str, int], titles: tuple[str, str] | None = None
) -> RenderableType:
    """What stands on each side, in words or as `titles` say, and a note on the whole."""
    left, right = titles or _titles(found, numbers)
    sizes = count(len(found.left_messages), "message"), count(len(found.right_messages), "message")
    lines = [
        Text(f"- {left}", GONE).append(f"  {safe_line(found.left.id, 40)} · {sizes[0]}", "dim"),
        Text(f"+ {right}", NEW).append(f"  {safe_line(found.right.id, 40)} · {sizes[1]}", "dim"),
    ]
    note = _note(found)
    return Group(*lines, *([Text(f"  {note}", "bold")] if note else []))


def _titles(found: Comparison, numbers: Mapping[str, int]) -> tuple[str, str]:
    left, right = _SIDES[found.relation]
    if found.relation is Relation.NEXT_TURN and not found.echo:
        left = right
    names = turn_of(found.left.id, numbers), turn_of(found.right.id, numbers)
    return f"{left} {names[0]}", f"{right} {names[1]}"


def _note(found: Comparison) -> str:
    if found.reset:
        return "nothing of the earlier turns is left"
    if found.compacted:
        return "a summary stands for the earlier history"
    if found.forked:
        return "the user went back to an earlier point"
    return "" if found.changes else "nothing is lost or changed"


def runs(every: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows in runs of equal messages and runs of others."""
    run: list[Row] = []
    for row in every:
        if run and (row.kind == "equal") != (run[-1].kind == "equal"):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def folded(run: Sequence[Row]) -> tuple[str, str]:
    """The indices of a run of equal messages, on the left and on the right."""
    first, last = run[0], run[-1]
    return f"{first.left}–{last.left}", f"{first.right}–{last.right}"


def _folded(run: Sequence[Row]) -> Text:
    left, right = folded(run)
    return Text(f"=  {left} → {right}  {len(run)} equal messages", "dim")


def _row(row: Row, found: Comparison, whole: bool) -> RenderableType:
    left = None if row.left is None else found.left_messages[row.left]
    right = None if row.right is None else found.right_messages[row.right]
    sign, style = SIGNS[row.kind]
    head = Text(f"{sign}  {_indices(row)}", style)
    if row.kind in WORDS:
        head.append(f"  {WORDS[row.kind]}", style)
    if left and right and script(left) != script(right):
        head.append(f"  {_roles(left, right)}")
        return Group(indented(head), Barred(word_text(script(left), script(right), whole=whole)))
    message = right or left
    assert message is not None
    if left and right and left.role != right.role:
        head.append(f"  {_roles(left, right)}")
    body = [row[1:] for row in message_rows("", message, 1_000_000 if whole else 160)]
    return indented(Group(head, indented(grid(body), 4)))


def _indices(row: Row) -> str:
    if row.left is None:
        return f"→ {row.right}"
    if row.right is None:
        return f"{row.left} →"
    return f"{row.left} → {row.right}"


def _roles(left: Message, right: Message) -> str:
    if left.role == right.role:
        return safe_line(left.role, 20)
    return f"{safe_line(left.role, 20)} → {safe_line(right.role, 20)}"
