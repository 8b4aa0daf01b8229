"""tool.index_collision"""

from collections.abc import Iterator

from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.reading import event_place
from proxyaudit.rules.tools.streamed import collisions


@rule("tool.index_collision", severity="error", on=Turn)
def index_collision(turn: Turn, facts: Facts) -> Iterator[Found]:
    """Two streamed calls share one index.

    What it does
        Follows the pieces of streamed calls. Reports a piece that begins a new call (another id, or
        a name and a new object) under an index that already belongs to another call.

    Why it matters
        Clients put pieces together by index: two calls become one, with joined arguments such as
        `{"path": "a"}{"path": "c"}`, which no tool can run.

    Example
        Bad: {"index": 0, "id": "p-1", …} and later {"index": 0, "id": "p-2", …}
        Good: {"index": 0, "id": "p-1", …} and later {"index": 1, "id": "p-2", …}

    What to look at next
        The server's tool-call parser, or the proxy's translation of parallel calls.
    """
    stream = turn.reply.stream if turn.reply else None
    if stream is None:
        return
    for call in collisions(stream.call_deltas):
        first = call.after
        if first is None:
            continue
        index = call.pieces[0].index
        yield Found(
            f"a second call began under index {index}, which belongs to "
            f"{first.id or 'another call'}",
            places=(event_place(turn, call.pieces[0].event),),
            before=(event_place(turn, first.pieces[0].event),),
            evidence={"index": index, "ids": [first.id, call.id]},
        )
