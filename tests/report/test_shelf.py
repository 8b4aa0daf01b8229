"""The list of recordings: names can be copied, at any width, and problems can be read."""

import pytest
from inline_snapshot import snapshot

from proxyaudit.report.console import plain
from proxyaudit.report.shelf import Entry, shelf_text

EMPTY = "recordings/empty-folder holds no exchange: no request went through the recorder"
ENTRIES = [
    Entry("20260921-141320", "r/1", 1_790_000_000.0, 18, ("client", "upstream"), 12_345),
    Entry("demo-drop-first-turns-replay", "r/2", 1_790_000_100.0, 1_204, ("client",), 999),
    Entry("empty-folder", "r/3", 1e300, 0, (), 0, EMPTY),
    Entry("session.flow", "r/4", 1_790_000_200.0, None, None, 8_000_000),
]


@pytest.mark.parametrize("width", [40, 50, 60, 72, 80, 100, 120])
def test_names_are_never_cut(width: int) -> None:
    """Other columns give way; every name begins a line of its own."""
    lines = plain(shelf_text(ENTRIES, "recordings"), width).splitlines()
    assert all(len(line) <= width for line in lines)
    first = [line.partition("  ")[0] for line in lines if not line.startswith(" ")]
    assert first == ["name", *(entry.name for entry in ENTRIES)]


def test_a_name_wider_than_the_terminal_goes_on_below() -> None:
    name = "a-very-long-name-of-a-recording-" * 3
    shown = plain(shelf_text([Entry(name, "r", 0.0, 1, ("client",), 1)], "recordings"), 40)
    assert name in shown.replace("\n", "")


def test_with_room_for_all() -> None:
    assert plain(shelf_text(ENTRIES, "recordings"), 100) == snapshot("""\
name                          started                  exchanges  taps                 size
20260921-141320               2026-09-21 14:13:20 UTC         18  client, upstream  12.3 kB
demo-drop-first-turns-replay  2026-09-21 14:15:00 UTC      1,204  client              999 B
empty-folder                  no date (1e+300)                 0  none                  0 B
  recordings/empty-folder holds no exchange: no request went through the recorder
session.flow                  2026-09-21 14:16:40 UTC          ?  ?                  8.0 MB
""")


def test_at_eighty_columns() -> None:
    assert plain(shelf_text(ENTRIES, "recordings"), 80) == snapshot("""\
name                          started, UTC      exchanges  taps       size
20260921-141320               2026-09-21 14:13         18  both    12.3 kB
demo-drop-first-turns-replay  2026-09-21 14:15      1,204  client    999 B
empty-folder                  no date (1e+300)          0  none        0 B
  recordings/empty-folder holds no exchange: no request went through the
  recorder
session.flow                  2026-09-21 14:16          ?  ?        8.0 MB
""")
