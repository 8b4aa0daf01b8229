"""One request, two replies: as recorded, and as another target answered."""

from itertools import zip_longest

from proxyaudit.compare.text import similarity
from proxyaudit.core.message import ToolCall, canonical_arguments
from proxyaudit.core.replay import (
    Both,
    CallsCompared,
    ReplayedTurn,
    ReplayVerdict,
    TextCompared,
)
from proxyaudit.core.turn import Reply, Turn

# Who hung up or stopped was on this side: the reply that was recorded is not the model's.
_NOT_WHOLE = frozenset({"client_abort", "recorder_stopped"})
_CONTEXT, _EXCERPT = 12, 60


def compare_replies(
    recorded: Turn, here: Turn, *, number: int, conversation: str | None, turn: int | None
) -> ReplayedTurn:
    """What two replies to one request have in common. A reply of None is one that never came.

    The verdict names the gravest difference: the prompt that the model saw, then the structure,
    tool calls, the reason to stop, the text. Tool-call ids are made up anew each time and left
    out.
    """
    texts, structure = compare_texts(recorded, here), structure_differences(recorded, here)
    calls = compare_calls(_calls(recorded), _calls(here))
    tokens = Both(_prompt_tokens(recorded), _prompt_tokens(here))
    finish = Both(_reply(recorded).finish, _reply(here).finish)
    verdict, summary = _verdict(recorded, here, tokens, structure, calls, finish, texts)
    return ReplayedTurn(
        number=number,
        exchange=recorded.id,
        replayed_as=here.id,
        conversation=conversation,
        turn=turn,
        verdict=verdict,
        summary=summary,
        prompt_tokens=tokens,
        status=Both(recorded.status, here.status),
        end=Both(recorded.exchange.end, here.exchange.end),
        model=Both(_reply(recorded).model, _reply(here).model),
        structure=structure,
        finish=finish,
        calls=calls,
        text=texts,
        reasoning=Both(_thinks(recorded), _thinks(here)),
        first_byte=Both(first_byte(recorded), first_byte(here)),
        total=Both(total_time(recorded), total_time(here)),
    )


def structure_differences(recorded: Turn, here: Turn) -> tuple[str, ...]:
    """What differs in kind, in words; empty where the recorded reply is not the server's own."""
    if _was_cut(recorded):
        return ()
    pairs = (
        ("dialect", recorded.dialect, here.dialect),
        ("status", _word(recorded.status), _word(here.status)),
        ("end", _end(recorded), _end(here)),
        *_reply_facts(recorded.reply, here.reply),
    )
    return tuple(f"{what}: {a} when recorded, {b} here" for what, a, b in pairs if a != b)


def _was_cut(recorded: Turn) -> bool:
    return _end(recorded) in _NOT_WHOLE


def _end(turn: Turn) -> str:
    """How it ended; a client that hangs up behind the last event got all there was."""
    return "complete" if turn.ok else turn.exchange.end


_FACTS = ("reply", "message", "error", "usage", "end sentinel", "stream faults", "choices")


def _reply_facts(recorded: Reply | None, here: Reply | None) -> list[tuple[str, str, str]]:
    if recorded is None or here is None:
        return [("reply", _some(recorded), _some(here))]
    return list(zip(_FACTS, _facts(recorded), _facts(here), strict=True))


def _facts(reply: Reply) -> tuple[str, ...]:
    stream = reply.stream
    faults = ", ".join(sorted({fault.kind for fault in stream.faults})) if stream else ""
    return (
        "a stream" if stream else "in one piece",
        _some(reply.message),
        _some(reply.error),
        _some(reply.usage),
        "seen" if stream and stream.done else "none",
        faults or "none",
        str(1 + len(reply.more)) if reply.message else "none",
    )


def _some(thing: object) -> str:
    return "none" if thing is None else "one"


def compare_calls(recorded: tuple[ToolCall, ...], here: tuple[ToolCall, ...]) -> CallsCompared:
    """Calls pair by pair, in order."""
    names = Both(tuple(c.name for c in recorded), tuple(c.name for c in here))
    same_arguments, difference = True, ""
    for number, (a, b) in enumerate(zip_longest(recorded, here), 1):
        if not _same_call(a, b):
            same_arguments = False
            difference = f"call {number}: {_call(a)} when recorded, {_call(b)} here"
            break
    return CallsCompared(names, names.equal, same_arguments, difference)


def compare_texts(recorded: Turn, here: Turn) -> TextCompared:
    """Visible text, with the place of the first difference."""
    a, b = _text(recorded), _text(here)
    if a == b:
        return TextCompared(True, 1.0)
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    at = min(len(a), len(b)) if at is None else at
    start = max(0, at - _CONTEXT)
    excerpt = Both(a[start : start + _EXCERPT], b[start : start + _EXCERPT])
    return TextCompared(False, round(similarity(a, b), 4), at, excerpt)


def first_byte(turn: Turn) -> float | None:
    """Seconds from the start of the exchange to the first piece of the body; None if untimed."""
    response = turn.exchange.response
    if response is None or not response.chunks or not turn.exchange.timed:
        return None
    return response.chunks[0].at


def total_time(turn: Turn) -> float | None:
    """Seconds from the start of the exchange to the end of the response; None if untimed."""
    response = turn.exchange.response
    return response.ended_at if response and turn.exchange.timed else None


def _verdict(
    recorded: Turn,
    here: Turn,
    tokens: Both[int | None],
    structure: tuple[str, ...],
    calls: CallsCompared,
    finish: Both[str | None],
    texts: TextCompared,
) -> tuple[ReplayVerdict, str]:
    """The gravest difference and a sentence about it."""
    known = tokens.recorded is not None and tokens.here is not None
    if here.reply is None and (recorded.reply is not None or _was_cut(recorded)):
        return "no reply", f"no readable reply here: {_ending(here)}"
    if known and not tokens.equal:
        return "other prompt", tokens_sentence(tokens)
    if _was_cut(recorded):
        return "nothing recorded", f"no whole reply was recorded ({recorded.exchange.end})"
    if structure:
        return "other structure", "; ".join(structure[:3]) + _error(here)
    if not (calls.same_names and calls.same_arguments):
        return "other tool calls", calls.difference
    said = "the same prompt_tokens" if known else "prompt_tokens not reported on both sides"
    if not finish.equal:
        return "other finish", f"{said}; ended by {finish.here}, {finish.recorded} when recorded"
    if not texts.equal:
        return "other text", f"{said}; text {texts.similarity:.0%} alike"
    return "same", f"{said}, the same reply"


def tokens_sentence(tokens: Both[int | None]) -> str:
    """Two unequal counts, in words."""
    return (
        f"the same request gave prompt_tokens {tokens.here} here and {tokens.recorded} when "
        "recorded: the model did not see the same prompt"
    )


def _same_call(a: ToolCall | None, b: ToolCall | None) -> bool:
    if a is None or b is None:
        return a is b
    same = canonical_arguments(a.arguments) == canonical_arguments(b.arguments)
    return a.name == b.name and same


def _call(call: ToolCall | None) -> str:
    if call is None:
        return "none"
    arguments = call.arguments if len(call.arguments) <= 80 else call.arguments[:80] + "…"
    return f"{call.name}({arguments})"


def _ending(turn: Turn) -> str:
    exchange = turn.exchange
    status = f"status {exchange.response.status}" if exchange.response else "no response"
    return f"{status}, {exchange.end}" + (f" ({exchange.error})" if exchange.error else "")


def _error(turn: Turn) -> str:
    return f" ({turn.reply.error})" if turn.reply and turn.reply.error else ""


def _word(status: int | None) -> str:
    return "none" if status is None else str(status)


def _reply(turn: Turn) -> Reply:
    return turn.reply or Reply()


def _text(turn: Turn) -> str:
    message = _reply(turn).message
    return message.text if message else ""


def _calls(turn: Turn) -> tuple[ToolCall, ...]:
    message = _reply(turn).message
    return message.calls if message else ()


def _thinks(turn: Turn) -> bool:
    message = _reply(turn).message
    return bool(message and message.thoughts)


def _prompt_tokens(turn: Turn) -> int | None:
    usage = _reply(turn).usage
    return usage.prompt if usage else None
