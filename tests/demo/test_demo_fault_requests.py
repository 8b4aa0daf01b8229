"""What each fault does to a request, without sockets."""

import copy
import json

import pytest

from proxyaudit.core.errors import UserError
from proxyaudit.demo.agent import TOOLS
from proxyaudit.demo.faults import FAULTS, Fault, find, strikes
from proxyaudit.demo.faults.requests import INJECTED, PLACEHOLDER
from proxyaudit.demo.script import Body

SYSTEM: Body = {"role": "system", "content": "Be brief."}
LONG = "rake x3\nspade x1\nlabels x40"


def _user(text: str) -> Body:
    return {"role": "user", "content": text}


def _said(text: str) -> Body:
    return {"role": "assistant", "content": text, "reasoning_content": f"why {text}"}


def _call(id_: str, path: str) -> Body:
    function = {"name": "read_file", "arguments": json.dumps({"path": path})}
    return {"id": id_, "type": "function", "function": function}


def _result(id_: str, text: str) -> Body:
    return {"role": "tool", "tool_call_id": id_, "content": text}


CALLS: Body = {**_said("both"), "tool_calls": [_call("call_a", "a.txt"), _call("call_b", "b.txt")]}
HISTORY: list[Body] = [
    SYSTEM,
    _user("a note"),
    _user('the word is "heron"'),
    _said("one"),
    _user("read both"),
    CALLS,
    _result("call_a", LONG),
    _result("call_b", "short"),
    _said("two"),
    _user("three?"),
    _said("three"),
    _user("four?"),
]
BODY: Body = {"model": "m", "messages": HISTORY, "tools": list(TOOLS), "tool_choice": "auto"}

EXPECTED: dict[str, list[Body]] = {
    "drop-first-turns": [SYSTEM, HISTORY[11]],
    "last-message-only": [HISTORY[11]],
    "drop-middle": [*HISTORY[:4], *HISTORY[9:]],
    "drop-system": HISTORY[1:],
    "reorder": [SYSTEM, HISTORY[4], HISTORY[2], HISTORY[3], HISTORY[1], *HISTORY[5:]],
    "duplicate": [SYSTEM, HISTORY[1], *HISTORY[1:]],
    "merge-messages": [SYSTEM, _user('a note\n\nthe word is "heron"'), *HISTORY[3:]],
    "role-change": [_user("Be brief."), *HISTORY[1:]],
    "inject-system": [SYSTEM, {"role": "system", "content": INJECTED}, *HISTORY[1:]],
    "rewrite-user": [*HISTORY[:2], _user('the word is "[masked]"'), *HISTORY[3:]],
    "rewrite-tool-result": [*HISTORY[:6], _result("call_a", PLACEHOLDER), *HISTORY[7:]],
    "change-call-id": [
        *HISTORY[:5],
        {
            **CALLS,
            "tool_calls": [
                _call("chatcmpl-tool-call_a", "a.txt"),
                _call("chatcmpl-tool-call_b", "b.txt"),
            ],
        },
        _result("chatcmpl-tool-call_a", LONG),
        _result("chatcmpl-tool-call_b", "short"),
        *HISTORY[8:],
    ],
    "break-call-id": [
        *HISTORY[:6],
        _result("chatcmpl-tool-call_a", LONG),
        _result("chatcmpl-tool-call_b", "short"),
        *HISTORY[8:],
    ],
    "change-arguments": [
        *HISTORY[:5],
        {**CALLS, "tool_calls": [_call("call_a", "A.TXT"), _call("call_b", "B.TXT")]},
        *HISTORY[6:],
    ],
    "merge-calls": [
        *HISTORY[:5],
        {
            **CALLS,
            "tool_calls": [
                {
                    **_call("call_a", ""),
                    "function": {
                        "name": "read_file",
                        "arguments": '{"path": "a.txt"}{"path": "b.txt"}',
                    },
                }
            ],
        },
        _result("call_a", f"{LONG}\n\nshort"),
        *HISTORY[8:],
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fault_changes_the_messages_as_it_says_and_nothing_else(name: str) -> None:
    before = copy.deepcopy(BODY)
    assert find(name).transform_request(BODY) == {**BODY, "messages": EXPECTED[name]}
    assert before == BODY, "a transform must not change its argument"


def test_strip_reasoning_takes_all_of_it_and_nothing_else() -> None:
    stripped = find("strip-reasoning").transform_request(BODY)["messages"]
    bare = [{k: v for k, v in m.items() if k != "reasoning_content"} for m in HISTORY]
    assert stripped == bare
    assert bare != HISTORY


def test_drop_tools_and_swap_model_leave_the_messages_alone() -> None:
    without = find("drop-tools").transform_request(BODY)
    assert without == {"model": "m", "messages": HISTORY}
    for name in ("swap-model", "swap-model-hidden"):
        assert find(name).transform_request(BODY) == {**BODY, "model": "m-mini"}


def test_merge_messages_falls_back_on_the_system_message() -> None:
    merged = find("merge-messages").transform_request({"messages": [SYSTEM, _user("hi")]})
    assert merged["messages"] == [_user("Be brief.\n\nhi")]


def test_rewrite_user_masks_the_longest_word_where_none_is_in_quotes() -> None:
    listed = [_user("put it in the cupboard"), _said("aye"), _user("now?")]
    rewritten = find("rewrite-user").transform_request({"messages": listed})["messages"]
    assert rewritten[0] == _user("put it in the [masked]")
    assert rewritten[1:] == listed[1:]


REQUEST_FAULTS = [fault for fault in FAULTS if fault.request]


@pytest.mark.parametrize("fault", REQUEST_FAULTS, ids=lambda fault: fault.name)
def test_odd_requests_are_survived(fault: Fault) -> None:
    """A faulty proxy breaks history, not itself: whatever the body, it answers with one."""
    odd: list[Body] = [
        {"messages": []},
        {"messages": [None, 3, {}]},
        {"messages": [_user("hi")]},
        {"messages": [{"role": "user", "content": None}, {"role": "user", "content": [{}]}]},
        {"messages": [{"role": "assistant", "tool_calls": [None, {}, {"function": 3}]}, {}]},
        {"messages": [{"role": "tool"}, {"role": "assistant", "tool_calls": 1}, _user("")]},
    ]
    for body in odd:
        assert isinstance(fault.transform_request(body), dict)


def test_none_gives_back_the_very_request() -> None:
    assert find("none").transform_request(BODY) is BODY
    assert find("none").expected_suspect is None


def test_turns_are_counted_by_user_messages_in_a_row_and_side_requests_are_spared() -> None:
    assert strikes(BODY, 4)
    assert not strikes(BODY, 5)
    title = {"messages": HISTORY}
    assert not strikes(title, 1)
    assert strikes(title, 4, side_requests=True)


def test_every_fault_says_what_it_does_and_what_should_find_it() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 25
    for fault in FAULTS:
        assert fault.what.endswith(".")
        assert (fault.expected_rule is None) == (fault.name == "none")
        assert (fault.request or fault.reply) or fault.name == "none"


def test_an_unknown_fault_is_answered_with_the_list() -> None:
    with pytest.raises(UserError) as caught:
        find("drop-everything")
    assert "drop-first-turns" in caught.value.hint


def test_an_unknown_fault_is_answered_with_the_nearest_first() -> None:
    with pytest.raises(UserError, match="no fault called 'strip-reason'") as caught:
        find("strip-reason")
    assert caught.value.hint.startswith("did you mean strip-reasoning? choose one of: none, ")
    with pytest.raises(UserError) as caught:
        find("xyzzy")
    assert caught.value.hint.startswith("choose one of: none, ")
