"""usage.missing"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Place
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import not_whole, whole
from proxyaudit.rules.wording import actor

# There a stream carries usage only if the client asks for it; elsewhere always.
_ON_REQUEST = frozenset({"openai-chat", "openai-completions"})


@rule("usage.missing", severity="warn", on=Turn)
def in_reply(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Usage that the client asked for (or that a plain reply always carries) did not reach it.

    What it does
        Looks at whole replies without token counts: plain ones, and streams for which the client
        asked `stream_options.include_usage` (in Messages and Responses a stream always has them).
        A stream whose end is missing is stream.done_missing. Across the hop it says who lost them.

    Why it matters
        Harnesses compact the history by this number. Without it the context runs over, and nothing
        can be said about silent truncation, cache or cost.

    Example
        Bad: {"stream_options": {"include_usage": true}} and a stream without a usage chunk.
        Good: data: {"choices": [], "usage": {"prompt_tokens": 91, …}} before the sentinel.

    What to look at next
        Whether the proxy drops chunks with an empty `choices`; the server's usage options.
    """
    if whole(turn) is None:
        yield not_whole(turn)
        return
    if _is_due(turn) and not _has_usage(turn):
        asked = "although the client asked for it" if _is_stream(turn) else "as plain replies do"
        yield Found(f"the reply carries no usage, {asked}", places=(_place(turn),))


@rule("usage.missing", severity="warn", on=Comparison, relations=(Relation.RETURNED,))
def on_the_way(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    if not found.left.ok or whole(found.right) is None:
        yield not_whole(found.right)
        return
    if _has_usage(found.left) and _is_due(found.right) and not _has_usage(found.right):
        yield Found(
            f"{actor(found)} lost the usage of the reply",
            places=(_place(found.right),),
            before=(_place(found.left),),
        )


def _is_due(turn: Turn) -> bool:
    reply = turn.reply
    if reply is None or reply.message is None or reply.message.is_empty:
        return False
    if reply.stream is None:
        return True
    if turn.dialect not in _ON_REQUEST:
        return True
    options = turn.prompt.settings.get("stream_options")
    asked = isinstance(options, dict) and options.get("include_usage") is True
    return asked and (reply.stream.done or not reply.stream.needs_done)


def _has_usage(turn: Turn) -> bool:
    usage = turn.reply.usage if turn.reply else None
    return usage is not None and not (usage.prompt is None and usage.completion is None)


def _is_stream(turn: Turn) -> bool:
    return bool(turn.reply and turn.reply.stream)


def _place(turn: Turn) -> Place:
    usage = turn.reply.usage if turn.reply else None
    missing = "/stream" if _is_stream(turn) else "/usage"
    return at(turn, "response", usage.pointer if usage else missing)
