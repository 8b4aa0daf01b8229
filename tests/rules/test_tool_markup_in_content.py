"""tool.markup_in_content"""

import pytest
from rules.builders import call, findings, pointers, skips, turn

from proxyaudit.core.message import assistant, system, tool, user
from proxyaudit.core.turn import Tool

RULE = "tool.markup_in_content"

LEAKS = [
    '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>',
    "I will read it.\n<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>",
    "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>",
    "<function=read_file><parameter=path>a</parameter></function>",
    '<function=read_file>{"path": "a"}</function>',
    '<|tool_call|>[{"name": "read_file", "arguments": {"path": "a"}}]<|/tool_call|>',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path": "a"}',
    '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a"}}]',
    '[TOOL_CALLS]read_file[ARGS]{"path": "a"}',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file",
    'I will read it.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">',
    '<function_calls>\n<invoke name="read_file">\n<parameter name="path">a</parameter>',
    "Sure. <invoke name='read_file'>",
    '<|python_tag|>{"name": "read_file", "parameters": {"path": "a"}}',
    '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path": "a"}',
    "<|start|>assistant<|channel|>commentary to=functions.read_file<|message|>{}",
    '<minimax:tool_call>\n<invoke name="read_file">',
    "<start_function_call>call:read_file{path:<escape>a<escape>}<end_function_call>",
    '<|tool_call_start|>[read_file(path="a")]<|tool_call_end|>',
    '<TOOLCALL>[{"name": "read_file", "arguments": {}}]</TOOLCALL>',
    '<function_call>{"name": "read_file"}</function_call>',
    "Let me check.<｜tool▁calls▁begin｜>",
    '<|python_tag|>web.search(query="a")',
    '{"name": "read_file", "parameters": {"path": "a"}}',
    '[{"name": "read_file", "arguments": {"path": "a"}}]',
]


@pytest.mark.parametrize("text", LEAKS)
def test_a_call_in_raw_text_is_found(text: str) -> None:
    here = turn(user("Read a."), reply=text, tools=["read_file"])
    assert pointers(findings(RULE, here)) == ["/choices/0/message/content"]


READ = Tool("read_file", '{"parameters":{"properties":{"path":{"type":"string"}}}}')
WRITTEN = [
    '{"type": "function", "name": "read_file", "parameters": {"path": "a"}}',
    '{"function": "read_file", "arguments": {"path": "a"}}',
    '```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```',
    'I will read it.\n\n{"name": "read_file", "arguments": {"path": "a"}}',
    '{"tool_calls": [{"id": "k-1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]}',
    '[read_file(path="a"), read_file(path="b")]',
    "Let me see.\n[read_file()]",
    '```tool_code\nprint(read_file(path="a"))\n```',
    'I need the file.\nAction: read_file\nAction Input: {"path": "a"}',
    "<read_file>\n<path>a</path>\n</read_file>",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_call_that_tells_by_the_name_of_a_tool_is_found(text: str) -> None:
    here = turn(user("Read a."), reply=text, tools=[READ])
    assert pointers(findings(RULE, here)) == ["/choices/0/message/content"]


@pytest.mark.parametrize("text", WRITTEN)
def test_the_same_of_a_tool_that_is_not_on_offer_is_lawful(text: str) -> None:
    assert findings(RULE, turn(user("Read a."), reply=text, tools=["write_file"])) == []


@pytest.mark.parametrize(
    "text",
    [
        'A call looks like this:\n```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```',
        'Of the form {"name": "read_file", "arguments": {"path": "a"}} are all calls; this is one.',
        "[read_file is what I would use]",
        "<read_file>\n<remark>a</remark>\n</read_file>",
        "<read_file>\n<path>a",
        "So:\n```xml\n<read_file>\n<path>a</path>\n</read_file>\n```\nDone.",
        "Action: read the file.\nThen sort it.",
        '```python\nread_file(path="a")\n```',
    ],
)
def test_near_misses_of_written_calls(text: str) -> None:
    assert findings(RULE, turn(user("Go."), reply=text, tools=[READ])) == []


def test_a_format_that_the_request_teaches_is_meant() -> None:
    told = "Write tools as <read_file><path>…</path></read_file>."
    here = turn(system(told), user("Read a."), reply=WRITTEN[-1], tools=[READ])
    assert findings(RULE, here) == []


@pytest.mark.parametrize("text", LEAKS[:-2])
def test_the_same_text_as_code_is_lawful(text: str) -> None:
    here = turn(user("How does it look?"), reply=f"So:\n```\n{text}\n```\n", tools=["read_file"])
    assert findings(RULE, here) == []


@pytest.mark.parametrize(
    "text",
    [
        "The model writes <tool_call> around its calls.",
        "Put `<tool_call>` before read_file.",
        "Use <function_call> or <tool_use>, as you like.",
        "The array is [1, 2], the tool is called read_file.",
        '{"name": "Anna", "arguments": "none"}',
        '{"name": "read_file", "size": 3}',
        "I will read_file now.",
        "Mistral writes [TOOL_CALLS] before a call.",
        "[TOOL_CALLS] is what Mistral writes when it wants to read_file or more.",
        "Where <|python_tag|> stands, the call follows; read_file takes a path.",
        "The model writes <tool_call> when it wants to read_file\nand more.",
    ],
)
def test_prose_that_mentions_markup_is_lawful(text: str) -> None:
    assert findings(RULE, turn(user("Go."), reply=text, tools=["read_file"])) == []


def test_markup_beside_a_structured_call_is_another_matter() -> None:
    both = assistant(LEAKS[0], call("k-1", path="a"))
    assert findings(RULE, turn(reply=both, tools=["read_file"])) == []


def test_without_tools_the_text_may_be_meant() -> None:
    assert skips(RULE, turn(user("Go."), reply=LEAKS[0])) == ["no tools were offered"]


@pytest.mark.parametrize("who", [user, system, lambda text: tool("k", text)])
def test_a_request_that_shows_the_markup_may_be_answered_with_it(who) -> None:  # type: ignore[no-untyped-def]
    here = turn(who("Explain <tool_call> to me."), reply=LEAKS[0], tools=["read_file"])
    assert findings(RULE, here) == []


def test_the_model_s_own_earlier_leak_is_no_excuse() -> None:
    here = turn(
        user("Go."), assistant(LEAKS[0]), user("Again."), reply=LEAKS[0], tools=["read_file"]
    )
    assert findings(RULE, here)
