"""tool.index_missing"""

from collections.abc import Iterator

from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.reading import event_place
from proxyaudit.rules.wording import count

# The only dialect in which each piece of a call has to name its index.
_INDEXED = "openai-chat"
_SHOWN = 5


@rule("tool.index_missing", severity="error", on=Turn)
def index_missing(turn: Turn, facts: Facts) -> Iterator[Found]:
    """Streamed call delta without index.

    What it does
        Looks at every piece of a streamed call in chat completions and reports those without an
        `index`. A call in a plain reply needs none.

    Why it matters
        Clients put the pieces together by index. Without it some drop the call, some join it to
        another one, and typed SDKs refuse the chunk.

    Example
        Bad: {"tool_calls": [{"id": "i-1", "function": {"name": "list_dir", …}}]}
        Good: {"tool_calls": [{"index": 0, "id": "i-1", "function": {"name": "list_dir", …}}]}

    What to look at next
        The server's streaming code for tool calls; a translating proxy, if only the client tap
        shows it.
    """
    stream = turn.reply.stream if turn.reply else None
    if stream is None or turn.dialect != _INDEXED:
        return
    bare = [d for d in stream.call_deltas if d.index is None]
    if not bare:
        return
    events = sorted({d.event for d in bare})
    comes = "comes" if len(bare) == 1 else "come"
    yield Found(
        f"{count(len(bare), 'piece')} of a streamed call {comes} without an index",
        places=tuple(event_place(turn, e) for e in events[:_SHOWN]),
        evidence={"pieces": len(bare), "of": len(stream.call_deltas)},
    )
