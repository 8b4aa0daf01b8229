"""Patterns over whole texts cost what the text is long, also where it is made to be costly."""

from time import perf_counter

import pytest

from proxyaudit.core.message import Media, Message, Text
from proxyaudit.core.turn import Tool
from proxyaudit.rules.content.lost_parts import is_placeholder, is_tagged
from proxyaudit.rules.isolation.particulars import particulars
from proxyaudit.rules.model.id_is_path import is_path
from proxyaudit.rules.reading import without_code
from proxyaudit.rules.reasoning.tags import find_leak
from proxyaudit.rules.tools.markup import find_markup
from proxyaudit.rules.tools.written_calls import written_call

LONG = 400_000


def repeated(text: str) -> str:
    return text * (LONG // len(text))


@pytest.mark.parametrize("text", ["`", "``", "``a`b", "~~~\n", "```\n", "`a\n", "a"])
def test_code_is_taken_out_in_time(text: str) -> None:
    begun = perf_counter()
    assert len(without_code(repeated(text))) <= LONG
    assert perf_counter() - begun < 3


@pytest.mark.parametrize("text", ["<think>\n", "x<think>", "analysisA", "\n ", "<|channel|> "])
def test_thinking_is_looked_for_in_time(text: str) -> None:
    begun = perf_counter()
    find_leak("x " + repeated(text), "x " + repeated(text))
    assert perf_counter() - begun < 3


@pytest.mark.parametrize("text", ["see <tool_call> now ", "<invoke ", "to=functions.", "<|tool_"])
def test_calls_are_looked_for_in_time(text: str) -> None:
    begun = perf_counter()
    find_markup("x " + repeated(text), ["read_file", "list_dir"])
    assert perf_counter() - begun < 3


@pytest.mark.parametrize(
    "text",
    [
        "<read_file><path>",
        "```\n",
        "```tool_code\n",
        "{\n",
        '{"type": "',
        '{"tool_calls": [{',
        "Action: ",
        "Action: read_file\n",
        "[read_file(",
        "\n[",
        " ",
        "\n",
    ],
)
def test_written_calls_are_looked_for_in_time(text: str) -> None:
    begun = perf_counter()
    tools = [Tool("read_file", '{"path":{}}'), Tool("list_dir", "{}")]
    for end in ("", "}", ")]"):
        written_call("x " + repeated(text) + end, "x " + repeated(text) + end, tools)
    assert perf_counter() - begun < 3


@pytest.mark.parametrize("text", ["a-", "a", "></a-a> ", "></a>", "a ", "\n"])
def test_notes_in_tags_are_told_in_time(text: str) -> None:
    begun = perf_counter()
    for start in ("<", "<a-a", "<a>", "\n"):
        is_tagged(Text(start + repeated(text) + "x"))
    assert perf_counter() - begun < 3


@pytest.mark.parametrize("text", ["image ", "a ", "- ", "x", "removed "])
def test_placeholders_are_told_in_time(text: str) -> None:
    begun = perf_counter()
    picture = Media("image", "d")
    is_placeholder(
        Message("user", (Text(repeated("ab ")), picture)), Message("user", (Text(repeated(text)),))
    )
    assert perf_counter() - begun < 3


@pytest.mark.parametrize("text", ["1", "1.", "a1", "a1.", "v1.0-", "py-1:", "http://a1 ", "A@b."])
def test_particulars_are_read_in_time(text: str) -> None:
    begun = perf_counter()
    assert len(list(particulars(repeated(text)))) <= LONG
    assert perf_counter() - begun < 3


@pytest.mark.parametrize("text", ["a", "a/", "a.", "/a.", " "])
def test_names_are_read_in_time(text: str) -> None:
    begun = perf_counter()
    is_path("x" + repeated(text))
    assert perf_counter() - begun < 3


def test_a_mark_after_a_small_indent_opens_its_line() -> None:
    assert find_markup('Now.\n   <tool_call>{"name": "x"}', [])
    assert find_markup(' <tool_call>{"name": "x"}', [])
    assert not find_markup('Now <tool_call>{"name": "x"}', [])
