"""tool.markup_in_content"""

from collections.abc import Iterator

from proxyaudit.core.finding import Skip
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.reading import asked, not_whole, text_place, visible, whole, without_code
from proxyaudit.rules.tools.markup import find_markup
from proxyaudit.rules.tools.offered import names
from proxyaudit.rules.tools.written_calls import written_call
from proxyaudit.rules.wording import excerpt


@rule("tool.markup_in_content", severity="error", on=Turn)
def markup_in_content(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Raw tool-call markup in content; no structured call.

    What it does
        Looks in the visible text of a reply without calls for the words in which model families
        write calls (`<tool_call>`, `<｜tool▁calls▁begin｜>`, `[TOOL_CALLS]`, …), outside code. A
        request without tools, or one that itself shows the same words, is left alone: there the
        text may be meant.

    Why it matters
        The model asked for a tool and nobody ran it. The user sees markup, the agent stops, and in
        the next turn the model reads its own markup as something it said.

    Example
        Bad: {"content": "<tool_call>{\\"name\\": \\"read_file\\", …}</tool_call>"}
        Good: {"content": null, "tool_calls": [{"function": {"name": "read_file", …}}]}

    What to look at next
        The server's tool-call parser for this model family, and its chat template.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    _, message = said
    if message.calls:
        return
    if not turn.prompt.tools:
        yield Skip("no tools were offered")
        return
    mark = _mark(turn, message)
    if mark is None:
        return
    yield Found(
        f"raw tool-call markup stands in the text ({mark}) and no call is given",
        places=(text_place(turn, message),),
        evidence={"text": excerpt(visible(message))},
    )


def _mark(turn: Turn, message: Message) -> str | None:
    """The words that tell a call, unless the request shows them, too."""
    text = visible(message)
    plain = without_code(text)
    written = written_call(text, plain, turn.prompt.tools)
    if written and not any(written in told for told in asked(turn.prompt)):
        return written
    found = find_markup(plain, names(turn.prompt))
    if found is None or any(found[0] in told for told in asked(turn.prompt)):
        return None
    return found[0].strip()
