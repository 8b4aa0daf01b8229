"""output.empty"""

from collections.abc import Iterator

from proxyaudit.core.finding import Place, Skip
from proxyaudit.core.message import Part, Reasoning, Text
from proxyaudit.core.turn import Reply, Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import not_whole, whole


@rule("output.empty", severity="warn", on=Turn)
def empty(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Success status, no text and no call.

    What it does
        Reports a reply that ended well and holds nothing: no text but white space, no call, no
        picture, no reasoning; one without any choice, a stream that is only its last word, and a
        body without a byte. A reply that holds reasoning alone is
        reasoning.swallowed_answer or output.budget_spent_thinking. A warm-up that asks for no
        output, and a reply that a filter stopped and says so, are lawful.

    Why it matters
        Harnesses take it for the end of the task, or send the request again and again. An empty
        assistant message in the history is refused by some servers for good.

    Example
        Bad: status 200, {"content": "", "finish_reason": "stop"}, and no tool_calls
        Good: {"content": "", "tool_calls": [{…}]}

    What to look at next
        `usage.completion_tokens`: above zero, something was written and lost behind this tap. The
        end token and the parsers of the server; `proxyaudit replay` with this turn.
    """
    if _asked_for_nothing(turn):
        yield Skip("the request asks for no output")
        return
    if _has_no_body(turn):
        yield Found("the reply is a success without a body", places=(at(turn, "response", ""),))
        return
    if _has_no_choice(turn):
        yield Found("the reply is a success that holds no answer at all", places=(_place(turn),))
        return
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    if reply.finish == "content_filter" or any(m.parts for m in reply.more):
        return
    if not any(_says_something(part) for part in message.parts):
        spent = reply.usage.completion if reply.usage else None
        counted = f", though {spent:,} tokens were counted" if spent else ""
        yield Found(
            f"the reply is empty: no text and no call{counted}",
            places=(_place(turn),),
            evidence={"finish": reply.finish, "completion_tokens": spent},
        )


def _asked_for_nothing(turn: Turn) -> bool:
    """A warm-up of the cache or of the connection."""
    settings = turn.prompt.settings
    return settings.get("generate") is False or settings.get("max_tokens") == 0


def _has_no_body(turn: Turn) -> bool:
    response = turn.exchange.response
    if response is None or turn.exchange.end != "complete" or response.status != 200:
        return False
    # A turn that did not come as bytes of its own (a websocket's) has its reply beside them.
    return not response.body and turn.reply is not None and turn.reply == Reply()


def _has_no_choice(turn: Turn) -> bool:
    """An object of the dialect, or a stream with its sentinel, in which there is no message."""
    reply = turn.reply
    if reply is None or turn.exchange.end != "complete" or turn.status != 200:
        return False
    if reply.error is not None or reply.message is not None or reply.finish is not None:
        return False
    if reply.stream is not None:
        return reply.stream.done and not reply.stream.faults
    return reply.id is not None or reply.usage is not None


def _says_something(part: Part) -> bool:
    match part:
        case Text(text) | Reasoning(text):
            return bool(text.strip())
        case _:
            return True


def _place(turn: Turn) -> Place:
    message = turn.reply.message if turn.reply else None
    return at(turn, "response", message.pointer if message else "")
