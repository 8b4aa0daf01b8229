"""Histories that the server keeps, put back from what was recorded.

A turn that names an earlier reply (`previous_response_id`) goes on from the history of the turn
that got it, itself put back, and from the reply. A reply that the recording does not hold leaves
the turn as it is: `Prompt.hides_history` says so.
"""

from dataclasses import dataclass, field, replace

from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.chained import continued, kept, moved


@dataclass(slots=True)
class Chain:
    """Give it the turns in order of time. It remembers each history that a reply can name.

    Histories share their messages: a turn costs its own new ones. What one tap saw is put back
    into turns of that tap only.
    """

    _kept: dict[tuple[str, str], tuple[Message, ...]] = field(default_factory=dict)

    def rebuild(self, turn: Turn) -> Turn:
        """The turn with its whole history, if it goes on from a recorded reply; else as it is."""
        prompt = turn.prompt
        before: tuple[Message, ...] | None = None
        if prompt.previous_id is not None and not prompt.rebuilt:
            before = self._kept.get((turn.exchange.tap, prompt.previous_id))
        if before is not None:
            turn = replace(turn, prompt=continued(prompt, before))
        self._keep(turn, before or ())
        return turn

    def _keep(self, turn: Turn, before: tuple[Message, ...]) -> None:
        reply = turn.reply
        if turn.prompt.hides_history or reply is None or reply.id is None:
            return
        said = moved([reply.message]) if reply.message else ()
        self._kept[turn.exchange.tap, reply.id] = (*kept(turn.prompt, before), *said)
