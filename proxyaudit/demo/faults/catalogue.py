"""Every fault by name, with the rule that should find it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from proxyaudit.core.errors import UserError
from proxyaudit.demo.faults import replies, requests
from proxyaudit.demo.faults.replies import Maker
from proxyaudit.demo.script import Body, tools, user_turns


@dataclass(frozen=True, slots=True)
class Fault:
    """A way for a proxy to go wrong. `none` has no rule and no suspect: it must come out clean.

    `request` changes what is sent on, `reply` what is sent back (streams only). With `breaks` the
    connection also ends as a crash does, short of what was announced.
    """

    name: str
    what: str
    expected_rule: str | None
    request: Callable[[Body], Body] | None = None
    reply: Maker | None = None
    breaks: bool = False

    @property
    def expected_suspect(self) -> Literal["proxy"] | None:
        return "proxy" if self.expected_rule else None

    def transform_request(self, body: Body) -> Body:
        """The request as it is sent on; equal to `body` where this fault has nothing to break."""
        return self.request(body) if self.request else body


def strikes(body: Body, from_turn: int, *, side_requests: bool = False) -> bool:
    """Whether a request is one to go wrong on: in turn `from_turn` or later, and no side request.

    A side request (a title, a summary) offers no tools.
    """
    return user_turns(body) >= from_turn and (side_requests or bool(tools(body)))


def _line(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _request(name: str, rule: str, function: Callable[[Body], Body]) -> Fault:
    return Fault(name, _line(function), rule, request=function)


def _reply(name: str, rule: str, maker: Maker) -> Fault:
    return Fault(name, _line(maker), rule, reply=maker)


FAULTS = (
    Fault("none", "A proxy that changes nothing.", None),
    _request("drop-first-turns", "message.dropped", requests.drop_first_turns),
    _request("last-message-only", "message.dropped", requests.last_message_only),
    _request("drop-middle", "message.dropped", requests.drop_middle),
    _request("drop-system", "system.dropped", requests.drop_system),
    _request("reorder", "message.reordered", requests.reorder),
    _request("duplicate", "message.duplicated", requests.duplicate),
    _request("merge-messages", "message.merged", requests.merge_messages),
    _request("role-change", "message.role_changed", requests.role_change),
    _request("inject-system", "message.injected", requests.inject_system),
    _request("rewrite-user", "message.rewritten", requests.rewrite_user),
    _request("rewrite-tool-result", "tool.result_cleared", requests.rewrite_tool_result),
    _request("strip-reasoning", "reasoning.dropped", requests.strip_reasoning),
    _request("change-call-id", "tool.id_changed", requests.change_call_id),
    _request("break-call-id", "tool.id_changed", requests.break_call_id),
    _request("change-arguments", "tool.arguments_changed", requests.change_arguments),
    _request("merge-calls", "tool.calls_merged", requests.merge_calls),
    _request("drop-tools", "tool.definitions_dropped", requests.drop_tools),
    _request("swap-model", "model.substituted", requests.swap_model),
    Fault(
        "swap-model-hidden",
        "Another model is asked for, and the reply bears the name of the first.",
        "model.substituted",
        request=requests.swap_model,
        reply=replies.restore_model,
    ),
    _reply("buffer-stream", "stream.buffered", replies.buffer_stream),
    Fault(
        "cut-stream",
        "After a few events the stream ends, as if it were complete.",
        "stream.truncated",
        reply=replies.cut_stream,
    ),
    Fault(
        "break-stream",
        "After a few events the connection is gone.",
        "stream.truncated",
        reply=replies.cut_stream,
        breaks=True,
    ),
    _reply("error-in-stream", "stream.error_in_200", replies.error_in_stream),
    _reply("bad-frame", "stream.bad_frame", replies.bad_frame),
    _reply("drop-done", "stream.done_missing", replies.drop_done),
    _reply("replace-utf8", "stream.utf8_corrupt", replies.replace_utf8),
    _reply("change-text", "stream.delta_changed", replies.change_text),
    _reply("strip-reasoning-reply", "reasoning.dropped", replies.strip_reasoning_reply),
    _reply("reasoning-in-content", "reasoning.in_content", replies.reasoning_in_content),
    _reply(
        "double-encode-arguments", "tool.arguments_double_encoded", replies.double_encode_arguments
    ),
    _reply("tool-markup", "tool.markup_in_content", replies.tool_markup),
    _reply("drop-index", "tool.index_missing", replies.drop_index),
    _reply("same-index", "tool.index_collision", replies.same_index),
    _reply("finish-stop", "tool.finish_mismatch", replies.finish_stop),
)

DEFAULT = "drop-first-turns"


def find(name: str) -> Fault:
    """The fault with this name; if there is none, a `UserError` with the nearest and all names."""
    for fault in FAULTS:
        if fault.name == name:
            return fault
    names = [fault.name for fault in FAULTS]
    near = get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise UserError(
        f"there is no fault called {name!r}", f"{meant}choose one of: {', '.join(names)}"
    )
