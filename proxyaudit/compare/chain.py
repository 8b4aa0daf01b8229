"""Histories that the server keeps, put back from what was recorded.

A turn that names an earlier reply (`previous_response_id`) goes on from the history of the turn
that got it, itself put back, and from the reply. A reply that the recording does not hold leaves
the turn as it is: `Prompt.hides_history` says so.
"""

from dataclasses import dataclass, field, replace

from proxyaudit.core.message import Message
from proxyaudit.core.turn import Prompt, Turn
from proxyaudit.dialects.chained import continued, kept, moved


@dataclass(slots=True)
class Chain:
    """Give it the turns in order of time. It remembers each history that a reply can name.

    Histories share their messages: a turn costs its own new ones. What one tap saw is put back
    into turns of that tap only.
    """

    _heard: dict[tuple[str, str], tuple[Prompt, Message | None, tuple[Message, ...]]] = field(
        default_factory=dict
    )
    _kept: dict[tuple[str, str], tuple[Message, ...]] = field(default_factory=dict)

    def rebuild(self, turn: Turn) -> Turn:
        """The turn with its whole history, if it goes on from a recorded reply; else as it is."""
        prompt = turn.prompt
        before: tuple[Message, ...] | None = None
        if prompt.previous_id is not None and not prompt.rebuilt:
            before = self._history((turn.exchange.tap, prompt.previous_id))
        if before is not None:
            turn = replace(turn, prompt=continued(prompt, before))
        self._keep(turn, before or ())
        return turn

    def forget(self, keep: int) -> None:
        """Forget all replies but the newest, so many."""
        for held in (self._heard, self._kept):
            for key in list(held)[: max(0, len(held) - keep)]:
                del held[key]

    def _keep(self, turn: Turn, before: tuple[Message, ...]) -> None:
        if not turn.prompt.hides_history and turn.reply and turn.reply.id is not None:
            key = (turn.exchange.tap, turn.reply.id)
            self._heard[key] = (turn.prompt, turn.reply.message, before)

    def _history(self, key: tuple[str, str]) -> tuple[Message, ...] | None:
        """What the server keeps under a reply's id; worked out when it is first named."""
        if key not in self._kept and key in self._heard:
            prompt, said, before = self._heard[key]
            self._kept[key] = (*kept(prompt, before), *moved([said] if said else ()))
        return self._kept.get(key)
