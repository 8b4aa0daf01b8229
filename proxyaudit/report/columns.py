"""A comparison in two columns: left and right, what changed marked word by word in both."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.message import Message
from proxyaudit.report.diff_text import SIGNS, WORDS, folded, runs
from proxyaudit.report.message_text import cut, role, script
from proxyaudit.report.safe import safe
from proxyaudit.report.sidebyside import Row, rows
from proxyaudit.report.words import word_columns

NARROWEST = 100
"""Columns of a terminal below which two texts beside each other cannot be read."""
_SHORT = 400


def columns(found: Comparison, title: RenderableType, *, whole: bool = False) -> RenderableType:
    """Both sides in two columns. Runs of equal messages are folded unless `whole`."""
    table = Table(box=box.MINIMAL, show_header=False, show_edge=False, pad_edge=False, expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    for run in runs(rows(found)):
        if run[0].kind == "equal" and len(run) > 2 and not whole:
            sides = (f"{span}  {len(run)} equal messages" for span in folded(run))
            table.add_row(*(Text(cell, "dim") for cell in ("=", *sides)))
            continue
        for row in run:
            table.add_row(*_cells(row, found, whole))
    return Group(title, Text(""), table)


def _cells(row: Row, found: Comparison, whole: bool) -> tuple[Text, Text, Text]:
    left = None if row.left is None else found.left_messages[row.left]
    right = None if row.right is None else found.right_messages[row.right]
    sign, style = SIGNS[row.kind]
    word = WORDS.get(row.kind, "")
    head = Text(f"{sign}  {word}".rstrip(), style)
    if left and right and script(left) != script(right):
        mine, theirs = word_columns(script(left), script(right), whole=whole)
    else:
        mine, theirs = _one(left, style, whole), _one(right, style, whole)
    return head, _cell(row.left, left, mine), _cell(row.right, right, theirs)


def _cell(index: int | None, message: Message | None, said: Text) -> Text:
    if message is None:
        return Text("")
    return Text(f"{index}  ", "dim").append_text(role(message)).append("\n").append_text(said)


def _one(message: Message | None, style: str, whole: bool) -> Text:
    if message is None:
        return Text("")
    text = script(message)
    said = safe(text) if whole else cut(text, _SHORT)
    return Text(said, "" if style == "dim" else style)
