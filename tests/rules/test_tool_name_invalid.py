"""tool.name_invalid"""

import pytest
from rules.builders import (
    Frame,
    ask,
    chunk,
    findings,
    piece,
    pointers,
    raw_call,
    streamed,
    turn,
)

from proxyaudit.core.message import assistant
from proxyaudit.core.turn import Tool, Turn

RULE = "tool.name_invalid"
OFFER = [{"type": "function", "function": {"name": "list_dir", "parameters": {}}}]


def named(name: str, *tools: str | Tool) -> Turn:
    return turn(reply=assistant("", raw_call("k", name, "{}")), tools=tools)


def offering(*frames: Frame) -> Turn:
    return streamed(*frames, finish="tool_calls", body=ask(tools=OFFER))


@pytest.mark.parametrize("name", ["", " ", "null", "None", "list_dirlist_dir", "List_Dir", "rm"])
def test_a_name_that_is_no_tool_is_found(name: str) -> None:
    assert findings(RULE, named(name, "list_dir"))


def test_an_offered_name_is_lawful() -> None:
    assert findings(RULE, named("list_dir", "list_dir")) == []


def test_a_doubled_name_is_told_as_such() -> None:
    assert "twice over" in findings(RULE, named("list_dirlist_dir", "list_dir"))[0].message


def test_without_tools_nobody_knows_which_names_are_right() -> None:
    assert findings(RULE, named("anything")) == []
    assert findings(RULE, named("null")), "but null is none"


def test_a_tool_that_brings_others_hides_their_names() -> None:
    server = Tool("shop", '{"server_url":"http://x","type":"mcp"}')
    assert findings(RULE, named("anything", "list_dir", server)) == []


@pytest.mark.parametrize("name", ["find", "shelf.find", "shelf__find"])
def test_the_tools_of_a_namespace_are_known(name: str) -> None:
    shelf = Tool("shelf", '{"tools":[{"name":"find","type":"function"}],"type":"namespace"}')
    assert findings(RULE, named(name, "list_dir", shelf)) == []
    assert findings(RULE, named("lose", "list_dir", shelf))


@pytest.mark.parametrize("again", ["null", "list_dir"])
def test_a_later_piece_with_a_name_is_found(again: str) -> None:
    here = offering(
        piece(0, '{"path": ', id="q-1", name="list_dir"),
        piece(0, '"cat"}', id="", name=again),
    )
    assert pointers(findings(RULE, here)) == ["/stream/1"]


def test_a_name_in_pieces_is_lawful() -> None:
    here = offering(
        piece(0, "", id="q-1", name="list_"),
        piece(0, "", name="dir"),
        piece(0, "{}"),
    )
    assert findings(RULE, here) == []


def test_two_calls_of_one_tool_are_lawful() -> None:
    here = offering(
        piece(0, "{}", id="q-1", name="list_dir"), piece(1, "{}", id="q-2", name="list_dir")
    )
    assert findings(RULE, here) == []


def test_an_unknown_name_in_a_stream_is_placed_at_its_event() -> None:
    here = offering(chunk({"content": "Hm."}), piece(0, "{}", id="q-1", name="dir_list"))
    assert pointers(findings(RULE, here)) == ["/stream/1"]
