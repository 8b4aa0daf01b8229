"""A conversation as it went: for each turn what was new in its prompt, and the reply."""

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.report.message_text import message_rows
from proxyaudit.report.parts import count, grid, indented
from proxyaudit.report.safe import safe_line


def transcript(conversation: Conversation, *, verbose: bool = False) -> Iterator[RenderableType]:
    """Turn by turn; messages carry their index in the prompt."""
    limit = 1_000_000 if verbose else 160
    known: Counter[str] = Counter()
    for number, turn in enumerate(conversation.turns, 1):
        new = list(_new(turn, known))
        kept = len(turn.prompt.messages) - len(new)
        yield Text("")
        yield Text(f"turn {number}", "bold").append(
            f"  {safe_line(turn.id, 40)}" + (f" · {count(kept, 'message')} as before" * bool(kept)),
            "dim not bold",
        )
        rows = [row for index, m in new for row in message_rows(index, m, limit)]
        rows += _answer(turn, limit)
        yield indented(grid(rows, right=(0,)))
        known = Counter(m.content for m in turn.prompt.messages)
        if turn.reply and turn.reply.message:
            known[turn.reply.message.content] += 1


def _new(turn: Turn, known: Counter[str]) -> Iterator[tuple[int, Message]]:
    left = known.copy()
    for index, message in enumerate(turn.prompt.messages):
        if left[message.content] > 0:
            left[message.content] -= 1
        else:
            yield index, message


def _answer(turn: Turn, limit: int) -> Iterator[tuple[Text | str, ...]]:
    reply = turn.reply
    if reply and reply.message:
        yield from message_rows("↳", reply.message, limit)
    elif reply and reply.error:
        yield ("↳", "", Text(f"error: {safe_line(reply.error, 200)}", "red"))
    else:
        yield ("↳", "", Text("no reply", "yellow"))
