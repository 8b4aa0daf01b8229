"""Two recordings side by side: a line for each turn, then what differs."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.compare.recordings import ConversationPair, Side, TurnPair
from proxyaudit.core.comparison import Comparison
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.turn import Turn
from proxyaudit.report.json import to_json
from proxyaudit.report.look_json import comparison_value
from proxyaudit.report.parts import count, grid, indented
from proxyaudit.report.safe import safe_line
from proxyaudit.report.words import GONE, NEW

_KINDS = {
    "dropped": "gone",
    "added": "put in",
    "duplicated": "repeated",
    "role_changed": "with another role",
}

type View = Callable[[Comparison, tuple[str, str]], RenderableType]
"""How one comparison is shown, given the titles of its sides."""


@dataclass(frozen=True, slots=True)
class TwoRecordings:
    """Two recordings by name, and how their conversations compare."""

    left: str
    right: str
    conversations: Sequence[ConversationPair]


def recordings_text(found: TwoRecordings, view: View, *, whole: bool = False) -> RenderableType:
    """Every turn in a line, then the first one that differs (`whole`: all that do)."""
    parts: list[RenderableType] = [
        Text(f"- {safe_line(found.left)}", GONE),
        Text(f"+ {safe_line(found.right)}", NEW),
    ]
    for pair in found.conversations:
        parts += [Text(""), _heading(pair)]
        if pair.turns:
            parts.append(indented(grid(_line(turn) for turn in pair.turns)))
    differing = [t for pair in found.conversations for t in pair.turns if t.prompt and t.differs]
    if not differing:
        parts.append(Text(f"\n{_verdict(found.conversations)}"))
    for turn in differing if whole else differing[:1]:
        parts += _differences(turn, view)
    more = len(differing) - 1
    if more > 0 and not whole:
        verb = "differs" if more == 1 else "differ"
        told = f"\n{count(more, 'further turn')} {verb}: --verbose shows all of them"
        parts.append(Text(told, "dim"))
    return Group(*parts)


def recordings_json(found: TwoRecordings) -> str:
    """`proxyaudit.diff-recordings/1`."""
    return to_json(
        {
            "schema": "proxyaudit.diff-recordings/1",
            "left": found.left,
            "right": found.right,
            "conversations": [
                {
                    "left": pair.left.id if pair.left else None,
                    "right": pair.right.id if pair.right else None,
                    "turns": [_turn_value(turn) for turn in pair.turns],
                }
                for pair in found.conversations
            ],
        }
    )


def _turn_value(pair: TurnPair) -> dict[str, Any]:
    return {
        "left": _side_value(pair.left),
        "right": _side_value(pair.right),
        "differs": pair.differs,
        "prompt": _rows_value(pair.prompt),
        "reply": _rows_value(pair.reply),
    }


def _rows_value(found: Comparison | None) -> dict[str, Any] | None:
    if found is None:
        return None
    value = comparison_value(found, {})
    return {key: value[key] for key in ("changes", "rows")}


def _side_value(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    number, turn = side
    return {"turn": number, "exchange": turn.id, "prompt_tokens": _tokens(turn)}


def _heading(pair: ConversationPair) -> Text:
    left, right = pair.left, pair.right
    if left and right:
        return Text(f"{_name(left)} ↔ {_name(right)}", "bold")
    only = left or right
    assert only is not None
    side, style = ("left", GONE) if left else ("right", NEW)
    turns = count(len(only.turns), "turn")
    return Text(f"{_name(only)}  only on the {side} ({only.kind}, {turns})", style)


def _name(conversation: Conversation) -> str:
    return safe_line(conversation.id, 40)


def _line(pair: TurnPair) -> tuple[Text | str, ...]:
    left, right = (str(side[0]) if side else "" for side in (pair.left, pair.right))
    name = f"turn {left or '–'} → {right or '–'}"
    if pair.left is None:
        return Text("+", NEW), name, Text("only on the right", NEW)
    if pair.right is None:
        return Text("-", GONE), name, Text("only on the left", GONE)
    words = [*_words(pair), *_token_words(pair.left[1], pair.right[1])]
    if pair.differs:
        return Text("~", "yellow"), name, Text("; ".join(words), "yellow")
    return Text("=", "dim"), name, Text("; ".join(["the same", *words]), "dim")


def _words(pair: TurnPair) -> Iterator[str]:
    for what, found in (("request", pair.prompt), ("reply", pair.reply)):
        if found is not None and found.changes:
            kinds = Counter[str]()
            for change in found.changes:
                kinds[change.kind] += max(1, len(change.left) or len(change.right))
            told = ", ".join(f"{n} {_KINDS.get(kind, kind)}" for kind, n in kinds.items())
            yield f"{what}: {told}"


def _token_words(left: Turn, right: Turn) -> Iterator[str]:
    a, b = _tokens(left), _tokens(right)
    if a is not None and b is not None and a != b:
        yield f"prompt_tokens {a:,} → {b:,}"


def _tokens(turn: Turn) -> int | None:
    return turn.reply.usage.prompt if turn.reply and turn.reply.usage else None


def _differences(pair: TurnPair, view: View) -> Iterator[RenderableType]:
    assert pair.left
    assert pair.right
    for what, found in (("request", pair.prompt), ("reply", pair.reply)):
        if found is not None and found.changes:
            titles = (
                f"the {what} of turn {pair.left[0]} on the left",
                f"the {what} of turn {pair.right[0]} on the right",
            )
            yield Text("")
            yield view(found, titles)


def _verdict(pairs: Sequence[ConversationPair]) -> str:
    if not any(pair.turns for pair in pairs):
        return "No conversation of one is in the other."
    if all(pair.left and pair.right for pair in pairs) and not any(
        turn.differs for pair in pairs for turn in pair.turns
    ):
        return "Both hold the same."
    return "What both hold is the same."
