"""What the replies of each conversation counted, and where a count does not follow the history."""

from collections.abc import Iterator, Sequence

from pydantic import TypeAdapter, ValidationError
from rich.console import RenderableType
from rich.text import Text

from proxyaudit.core.report import Report
from proxyaudit.engine.accounting import Account, Entry, Mark
from proxyaudit.report.background import Background
from proxyaudit.report.parts import count, grid, heading, indented
from proxyaudit.report.safe import safe_line
from proxyaudit.report.spark import spark
from proxyaudit.report.units import number, seconds

_ACCOUNTS: TypeAdapter[list[Account]] = TypeAdapter(list[Account])
_CONVERSATIONS, _REMARKS = 5, 3
_HEADS = ("turn", "prompt", "more", "characters", "more", "cached", "share", "")
# Providers keep a cache for five minutes at least.
_KEPT = 300.0


def tokens_text(report: Report, known: Background) -> Iterator[RenderableType]:
    """A line for each conversation of some turns, and a line for each oddity; all if verbose."""
    accounts = _accounts(report)
    shown = accounts if known.verbose else _first([a for a in accounts if len(_counts(a)) > 1])
    if not shown:
        return
    yield heading("Tokens, as the replies count them")
    if not any(_counts(a) for a in shown):
        yield indented("no reply reports prompt tokens")
        return
    for account in shown:
        yield indented(grid([_line(account)]))
        if known.verbose and _counts(account):
            yield indented(grid(_table(account), right=(0, 1, 2, 3, 4, 5, 6)), 4)
        else:
            yield from (indented(line, 4) for line in _short(list(_remarks(account))))


def _short(remarks: Sequence[tuple[int, str]]) -> Iterator[Text]:
    for turn, words in remarks[:_REMARKS]:
        yield Text(f"turn {turn}: {words}", "yellow")
    if len(remarks) > _REMARKS:
        yield Text(f"… and {len(remarks) - _REMARKS} more (--verbose)", "dim")


def _accounts(report: Report) -> list[Account]:
    """Empty where the report has no such measurements: it may have been made by hand."""
    try:
        return _ACCOUNTS.validate_python(report.measurements.get("tokens", []))
    except ValidationError:
        return []


def _counts(account: Account) -> list[int]:
    return [e.prompt_tokens for e in account.turns if e.prompt_tokens is not None]


def _first(accounts: Sequence[Account]) -> list[Account]:
    """Those with something odd, then the longest, in the order of the report."""
    ranked = sorted(accounts, key=lambda a: (not any(e.marks for e in a.turns), -len(a.turns)))
    chosen = {a.conversation for a in ranked[:_CONVERSATIONS]}
    return [a for a in accounts if a.conversation in chosen]


def _line(account: Account) -> tuple[Text | str, ...]:
    told = _counts(account)
    name = safe_line(account.conversation, 24)
    if not told:
        return name, "no prompt tokens reported"
    bars = spark([e.prompt_tokens for e in account.turns])
    about = [f"{told[0]:,} → {told[-1]:,}" if len(told) > 1 else f"{told[0]:,}"]
    missing = len(account.turns) - len(told)
    if missing:
        about.append(f"not told in {count(missing, 'turn')}")
    if account.characters_per_token is not None:
        steps = count(account.measured_steps, "turn")
        about.append(f"{account.characters_per_token:.1f} characters a token ({steps})")
    about.append(_cached(account))
    return name, bars, Text(" · ".join(about), "dim")


def _cached(account: Account) -> str:
    shares = [e.cached_share for e in account.turns[1:] or account.turns]
    known = [s for s in shares if s is not None]
    if not known:
        return "cached tokens not told"
    low, high = _percent(min(known)), _percent(max(known))
    return f"cached {low}" if low == high else f"cached {low} to {high}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _remarks(account: Account) -> Iterator[tuple[int, str]]:
    """(turn, what is odd about it)"""
    befores = [*account.turns[:1], *account.turns]
    for before, entry in zip(befores, account.turns, strict=False):
        for mark in entry.marks:
            yield entry.turn, _remark(mark, before, entry)


def _remark(mark: Mark, before: Entry, entry: Entry) -> str:
    match mark:
        case "fell":
            return (
                f"{number(before.prompt_tokens)} → {number(entry.prompt_tokens)} prompt tokens, "
                f"though the history grew by {number(entry.characters_grown)} characters"
            )
        case "cache_dropped":
            since = entry.seconds_since
            pause = f", {seconds(since)} later" if since and since > _KEPT else ""
            return (
                f"{number(before.cached_tokens)} → {number(entry.cached_tokens)} tokens read from "
                f"the cache{pause}: something early was changed, or another server answered"
            )
        case "counted_otherwise":
            return (
                f"{number(entry.prompt_tokens)} prompt tokens at the client tap, "
                f"{number(entry.upstream_prompt_tokens)} upstream"
            )


def _table(account: Account) -> Iterator[tuple[Text | str, ...]]:
    yield tuple(Text(head, "dim") for head in _HEADS)
    words: dict[int, list[str]] = {}
    for turn, remark in _remarks(account):
        words.setdefault(turn, []).append(remark)
    for entry in account.turns:
        yield (
            str(entry.turn),
            _or_dash(entry.prompt_tokens),
            _change(entry.tokens_grown),
            _or_dash(entry.characters),
            _change(entry.characters_grown),
            _or_dash(entry.cached_tokens),
            "–" if entry.cached_share is None else _percent(entry.cached_share),
            Text("; ".join(words.get(entry.turn, ())), "yellow"),
        )


def _or_dash(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _change(value: int | None) -> str:
    return "" if value is None else f"{value:+,}"
