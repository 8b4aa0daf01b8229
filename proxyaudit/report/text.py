"""The report for people: verdict, conversations, findings, what was and was not checked, what next.

Everything that comes from traffic goes through `report.safe` and never through markup.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.core.report import Report, ReportedConversation
from proxyaudit.report.background import Background, taps
from proxyaudit.report.checked import checked_text, limits_text, unchecked_text
from proxyaudit.report.findings import findings_text
from proxyaudit.report.hints import hints
from proxyaudit.report.parts import SEVERITY_STYLE, count, grid, heading, indented, tally
from proxyaudit.report.safe import safe_line
from proxyaudit.report.tokens import tokens_text

_MARKS = {"findings": ("✗", "bold red"), "clean": ("✓", "bold green")}
_CONVERSATIONS = 20
# Longer commands stand below their reason: they have to be copied whole.
_BESIDE = 62


def report_text(report: Report, background: Background | None = None) -> RenderableType:
    """The whole report."""
    known = background or Background()
    parts: list[RenderableType] = [_verdict(report), _scope(report)]
    parts += _conversations(report, known)
    if report.findings:
        parts.append(heading("Findings"))
        parts += findings_text(report.findings, known)
    parts += tokens_text(report, known)
    parts += checked_text(report, known)
    parts += unchecked_text(report, known)
    parts += limits_text(report)
    parts += _next(report)
    return Group(*parts)


def _verdict(report: Report) -> Text:
    mark, style = _MARKS.get(report.verdict, ("?", "bold yellow"))
    worst = {f.severity for f in report.findings}
    if report.verdict == "findings" and "error" not in worst:
        style = SEVERITY_STYLE["warn"]
    return Text(f"{mark} {safe_line(report.headline) or report.verdict}", style)


def _scope(report: Report) -> RenderableType:
    seen = taps(report)
    pieces = [safe_line(report.target)]
    if report.findings:
        pieces.append(tally(Counter(f.severity for f in report.findings)))
    if seen:
        where = "both taps" if len(seen) > 1 else f"the {next(iter(seen))} tap"
        pieces.append(f"{count(sum(seen.values()), 'exchange')} at {where}")
    turns = sum(c.turns for c in report.conversations)
    if turns:
        conversations = count(len(report.conversations), "conversation")
        pieces.append(f"{count(turns, 'turn')} in {conversations}")
    return indented(Text(" · ".join(pieces), "dim"))


def _conversations(report: Report, known: Background) -> Iterator[RenderableType]:
    if not report.conversations:
        return
    found: dict[str | None, Counter[str]] = defaultdict(Counter)
    for finding in report.findings:
        found[finding.conversation][finding.severity] += 1
    shown = report.conversations
    if len(shown) > _CONVERSATIONS and not known.verbose:
        shown = [c for c in shown if found.get(c.id) or c.kind == "main"][:_CONVERSATIONS]
    yield heading("Conversations")
    rows = [_conversation(c, depth, found[c.id]) for c, depth in _as_tree(shown)]
    yield indented(grid(rows, right=(2,)))
    rest = len(report.conversations) - len(shown)
    if rest:
        yield indented(Text(f"… and {rest} more (--verbose lists them)", "dim"))


def _as_tree(
    shown: Sequence[ReportedConversation],
) -> Iterator[tuple[ReportedConversation, int]]:
    """Parents before their children, each with its depth; whoever has no parent here is a root."""
    children: dict[str | None, list[ReportedConversation]] = defaultdict(list)
    known = {c.id for c in shown}
    for conversation in shown:
        children[conversation.parent if conversation.parent in known else None].append(conversation)
    waiting = [(c, 0) for c in reversed(children[None])]
    while waiting:
        conversation, depth = waiting.pop()
        yield conversation, depth
        waiting += ((c, depth + 1) for c in reversed(children.pop(conversation.id, [])))


def _conversation(
    conversation: ReportedConversation, depth: int, found: Counter[str]
) -> tuple[Text | str, ...]:
    state = Text("✓ clean", "green")
    if found:
        worst = next(s for s in ("error", "warn", "info") if found[s])
        mark = "✓" if worst == "info" else "✗"
        state = Text(f"{mark} {tally(found)}", SEVERITY_STYLE[worst])
    about = []
    if conversation.purpose:
        about.append(safe_line(conversation.purpose, 60))
    if conversation.parent and not depth:
        about.append(f"of {safe_line(conversation.parent, 24)}")
    if conversation.session:
        about.append(f"session {safe_line(conversation.session, 40)}")
    extra = len(conversation.exchanges) - conversation.turns
    if extra > 0:
        about.append(f"{count(extra, 'more attempt')}")
    return (
        f"{'  ' * depth}{conversation.kind}",
        safe_line(conversation.id, 24),
        count(conversation.turns, "turn"),
        state,
        Text(" · ".join(about), "dim"),
    )


def _next(report: Report) -> Iterator[RenderableType]:
    yield heading("Next")
    found = hints(report)
    if max(len(hint.command) for hint in found) <= _BESIDE:
        yield indented(grid([(hint.command, Text(hint.why, "dim")) for hint in found]))
        return
    for hint in found:
        yield indented(Text(f"# {hint.why}", "dim"))
        yield indented(Text(hint.command, overflow="fold", no_wrap=True))
