"""tool.definitions_dropped"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Place, Severity
from proxyaudit.core.turn import Tool, Turn
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.reading import simple, visible
from proxyaudit.rules.wording import actor, count, where

# How a harness asks for a last answer: the steps are used up, or no tool may be used any more.
_LAST_ANSWER = re.compile(
    r"""\b(step|turn|iteration|round|tool[ -]call)s?\ (limit|budget)
    | \b(max|maximum|limit)\b.{0,30}\b(steps|turns|iterations|rounds|tool\ (calls|uses))\b
    | \bout\ of\ (steps|turns|iterations|rounds)\b
    | \b(not|don't|can't|no\ longer)\ (use|call|run|make|invoke)\b.{0,30}\btools?\b
    | \bwithout\ ((using|calling|any|more|further|your)\ )*tools?\b
    | \btools\ (are|have\ been)\ (now\ )?(disabled|switched\ off|not\ allowed|unavailable)
    | \bno\ (more|further)\ tool""",
    re.VERBOSE,
)
_OPENING = 2000


@rule(
    "tool.definitions_dropped",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def definitions_dropped(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Offered tools are missing on the other side.

    What it does
        Compares the tools of a request at the two taps, and those of a turn with the next turn. A
        tool that was renamed and kept its definition is not missing. Between turns a harness may
        take a tool away on purpose: a part of them is a warning if it is half of them or the
        history has calls to one of them, and reported at info otherwise, or if the turns ask for
        different models: harnesses choose the tools by the model. All of them gone is an
        error, save where the newest message says why (the steps are used up, answer without tools)
        and the reply makes no call: then it is told at info.

    Why it matters
        The model says "I cannot read files", or writes the call as text, since nobody told it that
        it has a tool.

    Example
        Bad: {"tools": [read_file, write_file]} arrives upstream as {} or {"tools": [read_file]}
        Good: the same tools on both sides.

    What to look at next
        Allow-lists and "drop unsupported parameters" settings of the proxy; MCP servers that went
        away, if it is the harness.
    """
    left, right = found.left.prompt.tools, found.right.prompt.tools
    missing = _missing(left, right)
    if not missing:
        return
    names = ", ".join(t.name or "(no name)" for t in missing[:4])
    some = "…" if len(missing) > 4 else ""
    yield Found(
        f"{actor(found)} lost {len(missing)} of {count(len(left), 'offered tool')} "
        f"{where(found)}: {names}{some}",
        places=(_list(found.right, right),),
        before=(_list(found.left, left),),
        severity=_severity(found, missing),
        evidence={"missing": [t.name for t in missing], "of": len(left)},
    )


def _missing(left: tuple[Tool, ...], right: tuple[Tool, ...]) -> list[Tool]:
    names = {t.name for t in right}
    news = [t.definition for t in right if t.name not in {old.name for old in left}]
    gone = []
    for tool in left:
        if tool.name in names:
            continue
        if tool.definition in news and tool.definition != "{}":
            news.remove(tool.definition)
        else:
            gone.append(tool)
    return gone


def _list(turn: Turn, tools: tuple[Tool, ...]) -> Place:
    pointer = tools[0].pointer.rpartition("/")[0] if tools else ""
    return at(turn, "request", pointer or "/tools")


def _severity(found: Comparison, missing: list[Tool]) -> Severity | None:
    if found.relation is not Relation.NEXT_TURN:
        return None
    if not found.right.prompt.tools:
        return "info" if _is_last_answer(found.right) else None
    if found.left.prompt.model != found.right.prompt.model:
        return "info"
    used = {call.name for message in found.right_messages for call in message.calls}
    half = 2 * len(missing) >= len(found.left.prompt.tools)
    return "warn" if half or used & {t.name for t in missing} else "info"


def _is_last_answer(turn: Turn) -> bool:
    """Whether a request without tools asks for an answer without tools, and got one.

    Read is what stands behind the last call, without results: the words of the harness.
    """
    reply = turn.reply.message if turn.reply else None
    if reply is not None and reply.calls:
        return False
    for message in reversed(turn.prompt.messages):
        if message.calls:
            return False
        said = visible(message)
        if said.strip():
            return bool(_LAST_ANSWER.search(simple(said[:_OPENING])))
    return False
