"""A replay in words: the headline, one line a turn, and what differs where it matters."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from proxyaudit.core.replay import Both, ReplayDocument, ReplayedTurn, ReplayResult
from proxyaudit.report.json import to_json
from proxyaudit.report.parts import count
from proxyaudit.report.safe import safe_line

_MOST_DETAILS = 10
_STYLES = {"same": "green", "other text": "green", "other finish": "yellow", "no reply": "red"}


def replay_json(result: ReplayResult, written_to: str) -> str:
    """The document `proxyaudit.replay/1`."""
    document = ReplayDocument(
        headline=headline(result),
        written_to=written_to,
        recording=result.recording,
        target=result.target,
        tap=result.tap,
        model=result.model,
        planned=result.planned,
        interrupted=result.interrupted,
        turns=list(result.turns),
        not_replayed=list(result.not_replayed),
    )
    return to_json(document.model_dump(mode="python"))


def replay_view(result: ReplayResult, written_to: str) -> RenderableType:
    """The result for a terminal; text from traffic is made harmless."""
    parts: list[RenderableType] = [Text(safe_line(headline(result)), style="bold"), Text()]
    if result.turns:
        parts += [_table(result), Text()]
    parts += [Text(safe_line(line)) for line in _notes(result, written_to)]
    return Group(*parts)


def headline(result: ReplayResult) -> str:
    """The answer in one or a few sentences: first of all, did the model see the same prompt?"""
    turn = _quoted(result)
    if not result.turns:
        return "Nothing was replayed."
    if turn is None:
        return f"{_prompt(result)} {_words_only(result)}"
    if turn.verdict == "other prompt":
        return f"{turn.name}: {turn.summary}. {_suspect(result)}"
    more = f" {len(result.faults)} of {_turns(result)} differ." if len(result.turns) > 1 else ""
    return f"{turn.name}: {turn.verdict}: {turn.summary}.{more} {_prompt(result)}"


def _quoted(result: ReplayResult) -> ReplayedTurn | None:
    """The turn that the headline is about: the first with another prompt, else the first fault."""
    others = (turn for turn in result.faults if turn.verdict == "other prompt")
    return next(others, next(iter(result.faults), None))


def _prompt(result: ReplayResult) -> str:
    counts = [t.prompt_tokens for t in result.turns]
    counted = [c for c in counts if None not in (c.recorded, c.here)]
    if not counted:
        return (
            "prompt_tokens was not reported on both sides, so it cannot be said whether the model "
            "saw the same prompt."
        )
    if len(counted) == len(result.turns):
        every = "every turn" if len(counted) > 1 else "this turn"
        return f"prompt_tokens is equal in {every}: nothing says that the model saw another prompt."
    return f"prompt_tokens is equal in {len(counted)} of {_turns(result)}, unknown in the others."


def _words_only(result: ReplayResult) -> str:
    verdicts = {turn.verdict for turn in result.turns}
    if verdicts == {"same"}:
        return "The replies are the same."
    if verdicts == {"nothing recorded"}:
        return "No whole reply was recorded to compare with."
    return (
        "Replies differ in their words alone, which is no fault: a model that samples says "
        "something else each time."
    )


def _suspect(result: ReplayResult) -> str:
    others = [turn for turn in result.turns if turn.verdict == "other prompt"]
    gaps = [(t.prompt_tokens.here or 0) - (t.prompt_tokens.recorded or 0) for t in others]
    sentences = [_where(result, gaps[0])]
    if len(others) > 1:
        every = len(others) == len(result.turns)
        sentences.append(
            "So in every turn." if every else f"So in {len(others)} of {_turns(result)}."
        )
    if len(others) == len(result.turns) > 1 and len(set(gaps)) == 1:
        sentences.append(
            "The difference is the same in each: a fixed addition (another chat template, a system "
            "message put in) explains it better than lost history."
        )
    if result.model is not None or not others[0].model.equal:
        sentences.append(
            "The model names differ, though: another tokenizer or chat template may explain it."
        )
    return " ".join(sentences)


def _where(result: ReplayResult, gap: int) -> str:
    if gap < 0:
        return (
            f"Suspect: what stands between {result.target} and its model, which lost "
            f"{count(-gap, 'token')} here, or what added them when it was recorded."
        )
    here = f"the model got {count(gap, 'token')} fewer then"
    if result.tap == "upstream":
        return f"Suspect: the server, or what stood between the proxy and it: {here}."
    return f"Suspect: what stood between the harness and the model when it was recorded: {here}."


def _table(result: ReplayResult) -> Table:
    many = len({turn.conversation for turn in result.turns}) > 1
    columns = ["turn", "verdict", "prompt_tokens", "finish", "tool calls", "text", "first byte s"]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in (["conversation"] if many else []) + [*columns, "total s"]:
        table.add_column(column, no_wrap=column != "tool calls")
    for turn in result.turns:
        own = [Text(safe_line(turn.conversation or "–", 14))] if many else []
        style = _STYLES.get(turn.verdict, "red")
        table.add_row(*own, Text(_number(turn)), Text(turn.verdict, style=style), *_cells(turn))
    return table


def _cells(turn: ReplayedTurn) -> Iterator[Text]:
    yield Text(_both(turn.prompt_tokens))
    yield Text(safe_line(_both(turn.finish), 26))
    yield Text(safe_line(_calls(turn), 30))
    yield Text("equal" if turn.text.equal else f"{turn.text.similarity:.0%}")
    yield Text(_seconds(turn.first_byte))
    yield Text(_seconds(turn.total))


def _number(turn: ReplayedTurn) -> str:
    return str(turn.turn) if turn.turn else f"(request {turn.number})"


def _calls(turn: ReplayedTurn) -> str:
    calls = turn.calls
    names = Both(", ".join(calls.names.recorded), ", ".join(calls.names.here))
    if calls.same_names and not calls.same_arguments:
        return f"{names.here} (other arguments)"
    return _both(Both(names.recorded or None, names.here or None))


def _both[T](pair: Both[T]) -> str:
    recorded, here = _some(pair.recorded), _some(pair.here)
    return recorded if pair.equal else f"{recorded} → {here}"


def _some(value: object) -> str:
    return "–" if value is None else str(value)


def _seconds(pair: Both[float | None]) -> str:
    recorded, here = ("–" if s is None else f"{s:.2f}" for s in (pair.recorded, pair.here))
    return f"{recorded} → {here}"


def _notes(result: ReplayResult, written_to: str) -> Iterator[str]:
    yield from _details(result)
    name = f"model name {result.model}" if result.model else "model name as recorded"
    yield f"{_turns(result)} replayed against {result.target} ({name}); recorded → here."
    if result.interrupted:
        planned = count(result.planned, "request")
        verb = "was" if result.planned == 1 else "were"
        yield f"Ended early: {len(result.turns)} of {planned} {verb} replayed."
    if result.not_replayed:
        reasons = sorted({item.reason for item in result.not_replayed})
        yield f"Not replayed: {len(result.not_replayed)} ({'; '.join(reasons)})."
    if result.turns:
        yield f"New recording: {written_to}   (proxyaudit audit {written_to})"


def _details(result: ReplayResult) -> Iterator[str]:
    """What the headline and the table leave out about turns that differ."""
    faults = result.faults
    quoted = _quoted(result)
    for turn in faults[:_MOST_DETAILS]:
        if turn is not quoted:
            yield f"{turn.name}: {turn.summary}"
        yield from (f"{turn.name}: {line}" for line in turn.structure if line not in turn.summary)
        excerpt = turn.text.excerpt
        if excerpt is not None:
            was, here = safe_line(excerpt.recorded), safe_line(excerpt.here)
            at = f"text, from character {turn.text.at}"
            yield f"{turn.name}: {at}: “{was}” when recorded, “{here}” here"
    left = len(faults) - _MOST_DETAILS
    if left > 0:
        verb = "differs" if left == 1 else "differ"
        yield f"… and {count(left, 'more turn')} that {verb}."


def _turns(result: ReplayResult) -> str:
    return count(len(result.turns), "turn")
