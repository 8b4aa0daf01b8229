"""Send recorded requests to another target and compare the replies with the recorded ones."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from proxyaudit.client.aim import Aim, aimed, checked_target
from proxyaudit.client.send import PATIENT, Client, Timeouts, open_client, send
from proxyaudit.compare.replies import compare_replies
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange, Request, Tap
from proxyaudit.core.recording import Recording
from proxyaudit.core.replay import NotReplayed, ReplayedTurn, ReplayResult
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import NotATurn, read_turn
from proxyaudit.workflows.replay_plan import EVERYTHING, Plan, Planned, Selection, plan

# Answers that say, at the first request, that the user has to put something right.
_REJECTED = {
    401: "the target wants a key: name its variable with --api-key-env",
    403: "the target refuses this key: name another variable with --api-key-env",
    404: "nothing is at this address: see the path of --target, and the model name (--model)",
}


class Writer(Protocol):
    """Where the new recording goes."""

    def request(self, exchange: Exchange) -> None: ...

    def response(self, exchange: Exchange) -> None: ...

    def close(self) -> None: ...


class Progress(NamedTuple):
    """How far a replay is; `turn` is the one just compared."""

    done: int
    planned: int
    turn: ReplayedTurn


async def replay(
    recording: Recording,
    target: str,
    *,
    open_writer: Callable[[], Writer],
    selection: Selection = EVERYTHING,
    conversations: Sequence[Conversation] = (),
    pairs: Mapping[str, Sequence[str]] | None = None,
    tap: Tap | None = None,
    model: str | None = None,
    key: Callable[[str], str | None] = lambda _dialect: None,
    timeouts: Timeouts = PATIENT,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> ReplayResult:
    """Send the selected requests to the target, one at a time in recorded order, and compare.

    Host, path prefix, credentials and (if given) the model name are replaced, nothing else; see
    `client.aim`. `key` gives the credential for a dialect. `open_writer` is called once there is
    something to send; each exchange is written as it happens, under the id of the recorded one
    with `.replay` after it. Cancelling the task (Ctrl-C) ends the replay early: what was done is
    returned.

    Raises UserError for a target that cannot be reached, or that turns the first request away
    with 401, 403 or 404 where the recorded one was not.
    """
    aim = Aim(checked_target(target), model, key)
    todo = plan(recording, selection=selection, tap=tap, conversations=conversations, pairs=pairs)
    writer = open_writer()
    run = _Run(todo, aim, writer, timeouts, on_progress, [], list(todo.not_replayed))
    interrupted = False
    try:
        # A connection for each request: llama.cpp, for one, closes after every second answer and
        # does not say so. What meets the closing would count as a fault of the target.
        async with open_client(keep_alive=0) as client:
            await run.all(client)
    except asyncio.CancelledError:
        interrupted = True
        task = asyncio.current_task()
        if task is not None:
            # Answered here, by returning early: the task goes on to write down what it has.
            task.uncancel()
    finally:
        writer.close()
    return ReplayResult(
        recording=recording.target,
        target=aim.target,
        tap=todo.tap,
        model=model,
        planned=len(todo.items),
        turns=tuple(run.turns),
        not_replayed=tuple(run.not_replayed),
        interrupted=interrupted,
    )


@dataclass(slots=True)
class _Run:
    """A replay while it happens."""

    todo: Plan
    aim: Aim
    writer: Writer
    timeouts: Timeouts
    on_progress: Callable[[Progress], None]
    turns: list[ReplayedTurn]
    not_replayed: list[NotReplayed]

    async def all(self, client: Client) -> None:
        for number, item in enumerate(self.todo.items, 1):
            request = aimed(item.turn.exchange.request, self.aim, item.turn.dialect)
            if isinstance(request, str):
                self.not_replayed.append(NotReplayed(item.turn.id, request))
                continue
            exchange = await self._send(client, item.turn, request)
            if not self.turns:
                _check_first(exchange, item.turn)
            self._compare(number, item, exchange)

    async def _send(self, client: Client, turn: Turn, request: Request) -> Exchange:
        exchange = await send(
            client,
            request,
            tap=self.todo.tap,
            exchange_id=f"{turn.id}.replay",
            timeouts=self.timeouts,
            on_request=self.writer.request,
        )
        self.writer.response(exchange)
        return exchange

    def _compare(self, number: int, item: Planned, exchange: Exchange) -> None:
        read = read_turn(exchange)
        if isinstance(read, NotATurn):
            read = replace(item.turn, exchange=exchange, reply=None)
        compared = compare_replies(
            item.turn,
            read,
            number=number,
            conversation=item.place.conversation,
            turn=item.place.number,
        )
        self.turns.append(compared)
        self.on_progress(Progress(number, len(self.todo.items), compared))


def _check_first(exchange: Exchange, recorded: Turn) -> None:
    """Stop at once where every further request would fail the same way."""
    url = exchange.request.url
    if exchange.end == "upstream_refused" or (exchange.end == "timeout" and not exchange.response):
        raise UserError(
            f"{url} cannot be reached: {exchange.error}",
            "Is the server running, and is this its address? A server that is only slow: --timeout",
        )
    status = exchange.response.status if exchange.response else None
    if status in _REJECTED and recorded.status != status:
        raise UserError(f"{url} answered {status} to the first request", _REJECTED[status])
