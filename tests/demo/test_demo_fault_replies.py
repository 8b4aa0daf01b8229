"""What each fault does to a stream, without sockets."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.demo import chat
from proxyaudit.demo.faults import FAULTS, find
from proxyaudit.demo.faults.addon import StreamTap
from proxyaudit.demo.faults.replies import EventCutter
from proxyaudit.demo.reading import ReadReply, read_reply
from proxyaudit.demo.script import Body, Call, ScriptedReply

REQUEST: Body = {"model": "m", "messages": [], "stream_options": {"include_usage": True}}
PATHS = ("a.txt", "é.txt")
REPLY = ScriptedReply(
    "Two files — read at once.",
    "I look at both.",
    tuple(Call("read_file", {"path": path}) for path in PATHS),
)
EVENTS = list(chat.stream(REQUEST, REPLY))
PLAIN = read_reply(b"".join(EVENTS))


def _sent(name: str, events: list[bytes] = EVENTS) -> list[bytes]:
    """What the client gets, piece by piece, for a stream that comes event by event."""
    fault = find(name)
    assert fault.reply
    tap = StreamTap(fault.reply(REQUEST))
    return [piece for event in [*events, b""] for piece in tap(event)]


def _read(name: str) -> ReadReply:
    return read_reply(b"".join(_sent(name)))


def _data(pieces: list[bytes]) -> Iterator[Body]:
    for piece in pieces:
        if piece.startswith(b"data: {"):
            yield json.loads(piece[6:])


def _arguments(reply: ReadReply) -> list[str]:
    return [call["function"]["arguments"] for call in reply.calls]


def test_buffer_stream_sends_nothing_before_the_end_and_then_the_same_bytes() -> None:
    maker = find("buffer-stream").reply
    assert maker
    tap = StreamTap(maker(REQUEST))
    assert [list(tap(event)) for event in EVENTS] == [[]] * len(EVENTS)
    assert list(tap(b"")) == EVENTS


def test_a_cut_stream_is_a_prefix_that_never_finishes() -> None:
    for name in ("cut-stream", "break-stream"):
        sent = _sent(name)
        assert sent == EVENTS[:7]
        assert read_reply(b"".join(sent)).finish is None
    assert find("break-stream").breaks
    assert not find("cut-stream").breaks


def test_a_short_stream_is_cut_before_it_finishes() -> None:
    short = list(chat.stream(REQUEST, ScriptedReply("Aye.")))
    assert _sent("cut-stream", short) == short[:2]


def test_an_error_in_a_stream_comes_once_and_ends_it() -> None:
    sent = _sent("error-in-stream")
    assert sent[:-1] == EVENTS[:7]
    assert "error" in json.loads(sent[-1][6:])


def test_a_bad_frame_is_no_json_and_all_else_is_as_before() -> None:
    sent = _sent("bad-frame")
    bad = sent.pop(2)
    assert sent == EVENTS
    with pytest.raises(json.JSONDecodeError):
        json.loads(bad.removeprefix(b"data: "))


def test_drop_done_drops_the_sentinel_alone() -> None:
    assert _sent("drop-done") == EVENTS[:-1]


def test_strip_reasoning_reply_leaves_all_but_the_reasoning() -> None:
    read = _read("strip-reasoning-reply")
    assert read.reasoning == ""
    assert PLAIN.reasoning
    assert (read.text, read.calls, read.finish) == (PLAIN.text, PLAIN.calls, PLAIN.finish)


def test_reasoning_in_content_puts_it_between_tags() -> None:
    read = _read("reasoning-in-content")
    assert read.reasoning == ""
    assert read.text == f"<think>{REPLY.reasoning}</think>{REPLY.text}"
    thought_only = list(chat.stream(REQUEST, ScriptedReply("", "Hm, hm.", REPLY.calls)))
    read = read_reply(b"".join(_sent("reasoning-in-content", thought_only)))
    assert read.text == "<think>Hm, hm.</think>"


def test_replace_utf8_breaks_the_letters_of_the_text_only() -> None:
    read = _read("replace-utf8")
    assert read.text == "Two files \ufffd read at once."
    assert read.calls == PLAIN.calls


def test_change_text_changes_the_joined_text_only() -> None:
    read = _read("change-text")
    assert read.text.startswith("Well then,")
    assert read.text != PLAIN.text
    assert read.calls == PLAIN.calls


def test_double_encoded_arguments_are_json_in_json() -> None:
    read = _read("double-encode-arguments")
    assert [json.loads(raw) for raw in _arguments(read)] == _arguments(PLAIN)
    assert read.finish == PLAIN.finish


def test_tool_markup_leaves_no_call_but_its_text() -> None:
    read = _read("tool-markup")
    assert read.calls == []
    assert read.finish == "stop"
    assert read.text.count("<tool_call>") == 2
    assert all(path in read.text for path in PATHS)


def test_drop_index_and_same_index_touch_the_index_alone() -> None:
    pieces = [
        [call for data in _data(_sent(name)) for call in _calls(data)]
        for name in ("drop-index", "same-index")
    ]
    assert all("index" not in call for call in pieces[0])
    assert {call["index"] for call in pieces[1]} == {0}
    whole = [call for data in _data(EVENTS) for call in _calls(data)]
    bare = [{k: v for k, v in call.items() if k != "index"} for call in whole]
    assert pieces[0] == bare


def _calls(data: Body) -> list[Body]:
    return [c for choice in data["choices"] for c in choice["delta"].get("tool_calls", ())]


def test_finish_stop_changes_the_finish_reason_alone() -> None:
    read = _read("finish-stop")
    assert (read.finish, PLAIN.finish) == ("stop", "tool_calls")
    assert (read.text, read.calls) == (PLAIN.text, PLAIN.calls)


def test_a_hidden_swap_restores_the_name_that_was_asked_for() -> None:
    mini = list(chat.stream({**REQUEST, "model": "m-mini"}, REPLY))
    assert {data["model"] for data in _data(_sent("swap-model-hidden", mini))} == {"m"}


STREAM_FAULTS = [fault.name for fault in FAULTS if fault.reply]


@pytest.mark.parametrize("name", STREAM_FAULTS)
def test_no_piece_is_empty_and_odd_events_are_survived(name: str) -> None:
    """An empty piece would end the client's stream, an exception would hang it."""
    odd = [
        b": ping\n\n",
        b"data: 3\n\n",
        b"data: {\n\n",
        b'data: {"choices":[null,{"delta":null},{"delta":{"tool_calls":[null,{}]}}]}\n\n',
        b'data: {"choices":{}}\n\n',
        b'event: x\ndata: {"choices":[{"delta":{"content":null},"finish_reason":"stop"}]}\n\n',
        b"\xff\n\n",
        b"torn",
    ]
    assert all(_sent(name, odd))
    assert all(_sent(name))


@given(st.integers(1, 60))
def test_events_are_found_however_the_bytes_are_cut(step: int) -> None:
    wire, cutter = b"".join(EVENTS), EventCutter()
    found = [e for i in range(0, len(wire), step) for e in cutter.feed(wire[i : i + step])]
    assert found == EVENTS
    assert cutter.end() == []
