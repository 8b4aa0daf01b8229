"""tool.id_reused"""

from collections.abc import Iterator

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.history import shared
from proxyaudit.core.message import Message, ToolCall, canonical_arguments, is_sent
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, at, rule

type _Said = tuple[ToolCall, str]


@rule("tool.id_reused", severity="warn", on=Conversation)
def id_reused(conversation: Conversation, facts: Facts) -> Iterator[Found]:
    """One id used for two different calls of a conversation.

    What it does
        Compares the calls of each request's history, and those of its reply, by id. Two calls with
        one id and another name or other arguments are reported once. If the reply that gave the id
        anew is in the recording, whoever sent it is suspect; else nobody can be named.

    Why it matters
        Results are matched by id: the second result may answer the first call, overwrite it, or be
        taken for a repetition and dropped.

    Example
        Bad: call {"id": "functions.read_file:0", path a} and later {"id": "functions.read_file:0",
        path c}
        Good: ids that count on: functions.read_file:0, functions.read_file:1

    What to look at next
        How the server makes its ids: counting from 0 in every reply is a known fault.
    """
    told: set[str] = set()
    known: dict[str, _Said] = {}
    before: tuple[Message, ...] = ()
    for turn in conversation.turns:
        history = turn.prompt.messages
        same = shared(before, history)
        if same < len(before):
            known, same = {}, 0
        before = history
        # What a reply said counts in the turns after it only if it stands in their history.
        said: dict[str, _Said] = {}
        for call, side in _calls(turn, same):
            first = known.get(call.id) or said.get(call.id)
            if first is None:
                (known if side == "request" else said)[call.id] = (call, side)
                continue
            if not is_sent(call.id) or call.id in told or _key(first[0]) == _key(call):
                continue
            told.add(call.id)
            yield Found(
                f"the id {call.id} stands for two different calls: "
                f"{first[0].name} and then {call.name}",
                places=(at(turn, side, call.pointer),),
                before=(at(turn, first[1], first[0].pointer),),
                suspect="unknown" if side == "request" else None,
                evidence={"before": first[0].arguments, "after": call.arguments, "id": call.id},
            )


def _calls(turn: Turn, start: int) -> Iterator[_Said]:
    for message in turn.prompt.messages[start:]:
        yield from ((call, "request") for call in message.calls)
    if turn.ok and turn.reply and turn.reply.message:
        yield from ((call, "response") for call in turn.reply.message.calls)


def _key(call: ToolCall) -> tuple[str, str]:
    return call.name, canonical_arguments(call.arguments)
