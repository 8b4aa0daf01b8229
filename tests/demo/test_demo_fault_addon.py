"""The shell around the faults: which flows it touches, and how, on flows of the same shape."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from proxyaudit.core.errors import UserError
from proxyaudit.demo import chat
from proxyaudit.demo.agent import TOOLS
from proxyaudit.demo.faults import FAULTS, Faults
from proxyaudit.demo.script import Body, ScriptedReply

ODD_SPACING = b'{ "model":"m", "messages" : %b, "tools": %b }'


def _body(turns: int, *, tools: bool = True) -> bytes:
    said: list[Body] = [{"role": "system", "content": "Be brief."}]
    for n in range(turns):
        said += [{"role": "user", "content": f"q{n}"}, {"role": "assistant", "content": f"a{n}"}]
    offered = list(TOOLS) if tools else []
    return ODD_SPACING % (chat.dumps(said[:-1]), chat.dumps(offered))


def _flow(content: bytes, path: str = "/v1/chat/completions", method: str = "POST") -> Any:
    headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
    response = SimpleNamespace(headers=headers, stream=None)
    request = SimpleNamespace(path=path, method=method, content=content)
    return SimpleNamespace(id="f1", request=request, response=response)


def _run(addon: Faults, flow: Any) -> Any:
    addon.request(flow)
    addon.responseheaders(flow)
    return flow


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (_body(3), "/v1/chat/completions"),
        (_body(6, tools=False), "/v1/chat/completions"),
        (_body(6), "/v1/messages"),
        (b"not json", "/v1/chat/completions"),
        (b"[1]", "/v1/chat/completions"),
        (b'{"messages": 3}', "/v1/chat/completions"),
    ],
)
def test_what_is_not_due_passes_with_its_bytes(content: bytes, path: str) -> None:
    for fault in FAULTS:
        flow = _run(Faults(fault.name), _flow(content, path))
        assert flow.request.content is content
        assert flow.response.stream is True


def test_none_changes_no_byte_of_a_request_that_would_be_due() -> None:
    content = _body(6)
    flow = _run(Faults("none"), _flow(content))
    assert flow.request.content is content
    assert flow.response.stream is True


def test_a_fault_with_nothing_to_break_changes_no_byte() -> None:
    """No tool was ever called, so there is no id to change."""
    content = _body(6)
    assert _run(Faults("change-call-id"), _flow(content)).request.content is content


def test_from_its_turn_on_a_request_is_changed() -> None:
    addon = Faults("drop-first-turns", from_turn=4)
    assert len(json.loads(_run(addon, _flow(_body(4))).request.content)["messages"]) == 2
    side = Faults("drop-first-turns", from_turn=4, side_requests=True)
    flow = _run(side, _flow(_body(4, tools=False), "/api/chat/completions?x=1"))
    assert len(json.loads(flow.request.content)["messages"]) == 2


def test_a_broken_stream_announces_more_than_it_sends() -> None:
    flow = _run(Faults("break-stream"), _flow(_body(4)))
    assert "transfer-encoding" not in flow.response.headers
    assert int(flow.response.headers["content-length"]) > 10**6
    events = list(chat.stream({"model": "m"}, ScriptedReply("one two three four five six seven")))
    assert [piece for event in [*events, b""] for piece in flow.response.stream(event)] == events[
        :7
    ]


def test_compressed_and_plain_replies_pass() -> None:
    for name, value in (("content-encoding", "gzip"), ("content-type", "application/json")):
        flow = _flow(_body(4))
        flow.response.headers[name] = value
        assert _run(Faults("drop-done"), flow).response.stream is True


def test_a_request_without_an_answer_is_forgotten() -> None:
    addon, flow = Faults("drop-done"), _flow(_body(4))
    addon.request(flow)
    addon.error(flow)
    addon.responseheaders(flow)
    assert flow.response.stream is True


def test_options_of_the_host_decide() -> None:
    """As a mitmproxy script it takes what --set says."""
    added: dict[str, object] = {}
    options = SimpleNamespace(fault="reorder", fault_from_turn=2, fault_side_requests=True)

    def add_option(name: str, _: type, default: object, __: str, **___: object) -> None:
        added[name] = default

    loader = SimpleNamespace(master=SimpleNamespace(options=options), add_option=add_option)
    addon = Faults()
    addon.load(loader)
    defaults = {"fault": "drop-first-turns", "fault_from_turn": 4, "fault_side_requests": False}
    assert added == defaults
    addon.configure({"mode"})
    assert addon.fault.name == "drop-first-turns"
    addon.configure({"fault"})
    assert (addon.fault.name, addon.from_turn, addon.side_requests) == ("reorder", 2, True)


def test_an_unknown_fault_as_an_option_is_an_error_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """mitmproxy shows an exception of a script with its traceback; and an error ends its start."""
    options = SimpleNamespace(fault="reordr", fault_from_turn=2, fault_side_requests=False)
    addon = Faults()
    addon.load(
        SimpleNamespace(master=SimpleNamespace(options=options), add_option=lambda *_, **__: None)
    )
    addon.configure({"fault"})
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "no fault called 'reordr': did you mean reorder?" in caplog.text


def test_an_addon_of_an_unknown_fault_is_refused() -> None:
    with pytest.raises(UserError):
        Faults("nonsense")
