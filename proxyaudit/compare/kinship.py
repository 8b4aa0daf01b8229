"""Main, side or subagent: what each conversation is to the others, once all are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proxyaudit.compare.marks import flat, is_chore
from proxyaudit.compare.session import label
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.fields import as_object, value_of_text

# A shorter text may stand in a call's arguments by chance.
_TELLING = 16


@dataclass(frozen=True, slots=True)
class _Kin:
    """What is asked of a conversation again and again. `calls` are (time, flat arguments)."""

    conversation: Conversation
    first: Turn
    last: Turn
    system: tuple[str, ...]
    tools: frozenset[str]
    task: str
    calls: tuple[tuple[float, str], ...]

    @property
    def has_tools(self) -> bool:
        return bool(self.tools)


def relate(conversations: Sequence[Conversation]) -> None:
    """Set `kind`, `parent` and `restarts` of each conversation in place."""
    family = [_kin(c) for c in conversations if c.turns]
    by_frame: dict[tuple[object, ...], list[_Kin]] = {}
    for kin in family:
        by_frame.setdefault((kin.system, kin.tools), []).append(kin)
    callers = [kin for kin in family if kin.calls]
    for kin in family:
        conversation = kin.conversation
        if conversation.kind != "main":
            continue
        caller = _caller(kin, family, callers)
        owner = None if caller else _owner(kin, family)
        if caller:
            conversation.kind, conversation.parent = "subagent", caller.id
        elif owner:
            conversation.kind, conversation.parent = "side", owner.id
        elif _is_lone_chore(kin):
            conversation.kind = "side"
        else:
            conversation.restarts = _restarted(kin, by_frame[kin.system, kin.tools])
    _join_chores(by_frame)


def _join_chores(by_frame: Mapping[tuple[object, ...], Sequence[_Kin]]) -> None:
    """One request without tools under the very instructions of a side request is one as well,
    though its own words do not say whom it serves: a commit message for a bare list of files."""
    for alike in by_frame.values():
        sides = [k.conversation for k in alike if k.conversation.kind == "side"]
        if not sides or not alike[0].system:
            continue
        for kin in alike:
            if kin.conversation.kind == "main" and _is_lone(kin) and not _begun(kin.first):
                kin.conversation.kind = "side"
                kin.conversation.parent = sides[0].parent
                kin.conversation.restarts = None


def _kin(conversation: Conversation) -> _Kin:
    first, last = conversation.turns[0], conversation.turns[-1]
    calls = tuple(
        (turn.exchange.started_at, flat(call.arguments.replace("\\n", "\n").replace('\\"', '"')))
        for turn in conversation.turns
        if turn.reply and turn.reply.message
        for call in turn.reply.message.calls
    )
    return _Kin(
        conversation,
        first,
        last,
        tuple(m.content for m in first.prompt.messages if m.role == "system"),
        frozenset(t.name for t in first.prompt.tools),
        flat(_first_user(first)),
        calls,
    )


def _restarted(new: _Kin, alike: Sequence[_Kin]) -> str | None:
    """The conversation that had ended, under the same system prompt and with the same tools, when
    this one began with nothing but a user message, and without a label that would tell."""
    if not new.system or new.conversation.session or _begun(new.first):
        return None
    began = new.first.exchange.started_at
    for old in alike:
        if old is new or old.first.exchange.started_at >= began:
            return None
        if not old.conversation.session and _begun(old.last) and _ended(old.last) <= began:
            return old.conversation.id
    return None


def _begun(turn: Turn) -> bool:
    return any(m.role == "assistant" for m in turn.prompt.messages)


def _ended(turn: Turn) -> float:
    response = turn.exchange.response
    return turn.exchange.started_at + ((response.ended_at or 0.0) if response else 0.0)


def _caller(child: _Kin, family: Sequence[_Kin], callers: Sequence[_Kin]) -> Conversation | None:
    """The conversation that started a subagent: named in a header, or its call holds the task."""
    parent = label(child.first).parent
    if parent:
        named = [k for k in family if k is not child and k.conversation.session == parent]
        # Side requests carry the label of the session too; only what has tools can start an agent.
        named.sort(key=lambda k: not k.has_tools)
        return named[0].conversation if named else None
    return _by_task(child, callers) or _by_copy(child, callers) or _by_agent(child, family)


def _by_task(child: _Kin, callers: Sequence[_Kin]) -> Conversation | None:
    if len(child.task) < _TELLING:
        return None
    began = child.first.exchange.started_at
    return next(
        (
            k.conversation
            for k in callers
            if k is not child and any(child.task in text for at, text in k.calls if at < began)
        ),
        None,
    )


def _by_copy(child: _Kin, callers: Sequence[_Kin]) -> Conversation | None:
    """An agent that took the history with it: a call of its parent holds what it was newly told."""
    parent = next((k for k in callers if k.conversation.id == child.conversation.parent), None)
    if parent is None:
        return None
    told = [m.text for m in child.first.prompt.messages if m.role == "user"][-2:]
    began, new = child.first.exchange.started_at, flat(" ".join(told))
    tasks = (
        flat(value)
        for turn in parent.conversation.turns
        if turn.exchange.started_at < began and turn.reply and turn.reply.message
        for call in turn.reply.message.calls
        for value in as_object(value_of_text(call.arguments)).values()
        if isinstance(value, str)
    )
    found = any(len(task) >= _TELLING and task in new for task in tasks)
    return parent.conversation if found else None


def _by_agent(child: _Kin, family: Sequence[_Kin]) -> Conversation | None:
    """An agent with an id of its own serves the one without, in the same session (Claude Code)."""
    session, began = child.conversation.session, child.first.exchange.started_at
    if not session or not label(child.first).agent:
        return None
    for kin in family:
        earlier = kin.conversation.session == session and kin.first.exchange.started_at < began
        if earlier and kin.has_tools and not label(kin.first).agent:
            return kin.conversation
    return None


def _owner(chore: _Kin, family: Sequence[_Kin]) -> Conversation | None:
    """The conversation that a side request serves: it has more turns or tools, and either shares
    the label or has its words quoted in the request."""
    if len(chore.conversation.turns) > 1 or chore.has_tools:
        return None
    session = chore.conversation.session
    for other in family:
        if other is chore or other.conversation.kind == "side":
            continue
        if not _outranks(other, chore) or other.system == chore.system:
            continue
        if session == other.conversation.session and (session or _quotes(chore.first, other)):
            return other.conversation
    return None


def _outranks(other: _Kin, chore: _Kin) -> bool:
    return other.has_tools or len(other.conversation.turns) > len(chore.conversation.turns)


def _quotes(chore: Turn, other: _Kin) -> bool:
    """Whether the request holds the conversation's first or latest words of the user, or its reply
    stands in it later."""
    asked = flat(" ".join(m.text for m in chore.prompt.messages if m.role != "system"))
    began = chore.exchange.started_at
    words = (other.task, _latest_words(other, began))
    if any(len(text) >= _TELLING and text in asked for text in words):
        return True
    reply = flat(chore.reply.message.text) if chore.reply and chore.reply.message else ""
    if len(reply) < _TELLING:
        return False
    later = next((t for t in other.conversation.turns if t.exchange.started_at > began), None)
    return later is not None and any(reply in flat(m.text) for m in later.prompt.messages)


def _is_lone_chore(kin: _Kin) -> bool:
    return _is_lone(kin) and bool(kin.system) and is_chore(kin.first.prompt.messages)


def _is_lone(kin: _Kin) -> bool:
    return len(kin.conversation.turns) == 1 and not kin.has_tools


def _latest_words(kin: _Kin, before: float) -> str:
    """What the user had said last in a conversation at that time: the first paragraph, for some
    harnesses put standing instructions after it in the newest message (aider)."""
    for turn in reversed(kin.conversation.turns):
        if turn.exchange.started_at < before:
            said = (m.text for m in reversed(turn.prompt.messages) if m.role == "user")
            return flat(next(said, "").strip().partition("\n\n")[0])
    return ""


def _first_user(turn: Turn) -> str:
    return next((m.text for m in turn.prompt.messages if m.role == "user"), "")
