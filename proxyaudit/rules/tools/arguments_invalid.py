"""tool.arguments_invalid"""

from collections.abc import Iterator

from proxyaudit.core.message import ToolCall
from proxyaudit.core.turn import Prompt, Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import not_whole, whole
from proxyaudit.rules.tools.offered import takes_free_text
from proxyaudit.rules.tools.streamed import is_object
from proxyaudit.rules.tools.twice import unwrapped
from proxyaudit.rules.wording import excerpt


@rule("tool.arguments_invalid", severity="error", on=Turn)
def arguments_invalid(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Arguments are not one JSON object.

    What it does
        Parses the arguments of every call in a reply. Empty arguments and `{}` are lawful for a
        tool that takes none, and a tool of free text takes any. A reply that ran into its token
        limit or broke off is another matter, and arguments packed twice have a rule of their own.

    Why it matters
        The harness cannot run the call. Some give up, some send an error to the model, some run
        the tool with nothing.

    Example
        Bad: {"name": "write_file", "arguments": "{\\"path\\": \\"n.txt\\", \\"text\\": \\"a long"}
        Good: {"name": "write_file", "arguments": "{\\"path\\": \\"n.txt\\", \\"text\\": \\"a\\"}"}

    What to look at next
        The raw stream (`proxyaudit show --raw`): are pieces missing, or did the model write this?
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    if reply.finish in ("length", "content_filter"):
        return
    for call in message.calls:
        if _is_broken(call, turn.prompt):
            yield Found(
                f"the arguments of {call.name or 'a call'} are not one JSON object",
                places=(at(turn, "response", call.pointer),),
                evidence={"text": excerpt(call.arguments), "id": call.id},
            )


def _is_broken(call: ToolCall, prompt: Prompt) -> bool:
    if not call.arguments.strip() or is_object(call.arguments):
        return False
    return unwrapped(call.arguments) is None and not takes_free_text(prompt, call.name)
