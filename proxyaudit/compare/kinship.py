"""Main, side or subagent: what each conversation is to the others, once all are known."""

from collections.abc import Sequence

from proxyaudit.compare.marks import flat, is_chore
from proxyaudit.compare.session import label
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn

# A shorter text may stand in a call's arguments by chance.
_TELLING = 16


def relate(conversations: Sequence[Conversation]) -> None:
    """Set `kind` and `parent` of each conversation in place."""
    for conversation in conversations:
        if conversation.kind != "main" or not conversation.turns:
            continue
        caller = _caller(conversation, conversations)
        owner = None if caller else _owner(conversation, conversations)
        if caller:
            conversation.kind, conversation.parent = "subagent", caller.id
        elif owner:
            conversation.kind, conversation.parent = "side", owner.id
        elif _is_lone_chore(conversation):
            conversation.kind = "side"
        else:
            conversation.restarts = _restarted(conversation, conversations)


def _restarted(new: Conversation, conversations: Sequence[Conversation]) -> str | None:
    """The conversation that had ended, under the same system prompt and with the same tools, when
    this one began with nothing but a user message, and without a label that would tell."""
    first = new.turns[0]
    if new.session or any(m.role == "assistant" for m in first.prompt.messages):
        return None
    for old in conversations:
        last = old.turns[-1] if old.turns else first
        begun = any(m.role == "assistant" for m in last.prompt.messages)
        same = (
            bool(_system(first)) and _system(old.turns[0]) == _system(first) if old.turns else False
        )
        if old is new or old.session or not (begun and same):
            continue
        if {t.name for t in last.prompt.tools} == {t.name for t in first.prompt.tools} and _ended(
            last
        ) <= first.exchange.started_at:
            return old.id
    return None


def _ended(turn: Turn) -> float:
    response = turn.exchange.response
    return turn.exchange.started_at + ((response.ended_at or 0.0) if response else 0.0)


def _caller(child: Conversation, conversations: Sequence[Conversation]) -> Conversation | None:
    """The conversation that started a subagent: named in a header, or its call holds the task."""
    parent = label(child.turns[0]).parent
    others = [c for c in conversations if c is not child and c.turns]
    if parent:
        named = [c for c in others if c.session == parent]
        # Side requests carry the label of the session too; only what has tools can start an agent.
        return next((c for c in named if c.turns[0].prompt.tools), next(iter(named), None))
    task = flat(_first_user(child.turns[0]))
    if len(task) < _TELLING:
        return None
    return next((c for c in others if _called_with(c, child.turns[0], task)), None)


def _called_with(conversation: Conversation, child: Turn, task: str) -> bool:
    before = (t for t in conversation.turns if t.exchange.started_at < child.exchange.started_at)
    return any(
        task in flat(call.arguments.replace("\\n", "\n").replace('\\"', '"'))
        for turn in before
        if turn.reply and turn.reply.message
        for call in turn.reply.message.calls
    )


def _owner(chore: Conversation, conversations: Sequence[Conversation]) -> Conversation | None:
    """The conversation that a side request serves: it has more turns or tools, and either shares
    the label or has its words quoted in the request."""
    if len(chore.turns) > 1 or chore.turns[0].prompt.tools:
        return None
    first = chore.turns[0]
    for other in conversations:
        if other is chore or not other.turns or other.kind == "side":
            continue
        if not _outranks(other, chore) or _system(other.turns[0]) == _system(first):
            continue
        if chore.session and chore.session == other.session:
            return other
        if chore.session == other.session and _quotes(first, other.turns):
            return other
    return None


def _outranks(other: Conversation, chore: Conversation) -> bool:
    return bool(other.turns[0].prompt.tools) or len(other.turns) > len(chore.turns)


def _quotes(chore: Turn, turns: Sequence[Turn]) -> bool:
    """Whether the request holds the conversation's first words, or its reply stands in it later."""
    asked = flat(" ".join(m.text for m in chore.prompt.messages if m.role != "system"))
    said = flat(_first_user(turns[0]))
    if len(said) >= _TELLING and said in asked:
        return True
    reply = flat(chore.reply.message.text) if chore.reply and chore.reply.message else ""
    if len(reply) < _TELLING:
        return False
    later = [t for t in turns if t.exchange.started_at > chore.exchange.started_at]
    return any(reply in flat(m.text) for t in later[:1] for m in t.prompt.messages)


def _is_lone_chore(conversation: Conversation) -> bool:
    first = conversation.turns[0]
    alone = len(conversation.turns) == 1 and not first.prompt.tools
    return alone and bool(_system(first)) and is_chore(first.prompt.messages)


def _first_user(turn: Turn) -> str:
    return next((m.text for m in turn.prompt.messages if m.role == "user"), "")


def _system(turn: Turn) -> tuple[str, ...]:
    systems: list[Message] = [m for m in turn.prompt.messages if m.role == "system"]
    return tuple(m.content for m in systems)
