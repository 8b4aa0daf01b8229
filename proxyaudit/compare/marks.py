"""The marks by which a lawful change of history shows itself: summaries, and side requests."""

import re
from collections.abc import Collection, Sequence

from proxyaudit.core.message import Message

# How compaction announces itself at the start of the message that stands for the history. Words
# of opencode, Codex, Claude Code, Qwen, aider and of summary tags in general.
_SUMMARY = re.compile(
    r"""
    <[a-z_-]*(summary|compact|handoff|handover|state_snapshot)[a-z_-]*>
    | \b(context|conversation|session|history|chat)[\s_-]+(summary|was\ compacted|compaction)\b
    | \bsummary\ of\ (the|our|this|all|what|previous|earlier|prior)\b
    | \b(conversation|history|context|session|messages?)\b.{0,40}
      \b(compact|compress|condens|summari[sz])ed\b
    | \b(compact|compress|condens|summari[sz])ed\b.{0,40}
      \b(conversation|history|context|messages?)\b
    | \brecap\ of\ (the|our|this|all|what|previous|earlier|prior)\b
    | \A\W*(previous|earlier|prior)\ (context|conversation|messages|turns|history)\b
      [^.\n]{0,40}[:\n]
    | \bcontinued\ from\ (a|the)\ previous\b
    | \bwhat\ did\ we\ do\ so\ far\b
    | \banother\ (language\ )?model\ (started|worked)\b
    | \bspoke\ to\ you\ previously\b
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# What side requests ask for. Matched against instructions, never against the work itself.
_CHORE = re.compile(
    r"""
    \b(generate|write|create|make|give|suggest)\b.{0,60}
      \b(title|summary|commit\ message|state_snapshot)\b
    | \b(summari[sz]|compact|condens)(e[sd]?|ing)?\b.{0,60}
      \b(conversation|history|context|chat|above)\b
    | \b(detailed|concise|brief|structured)\ summary\b
    | \bhand-?(over|off)\b
    | \bprompt\ for\ continuing\b
    | \bcommit\ message\b
    | \btitle\ (generator|for\ (this|the))\b
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_NO_TOOLS = re.compile(
    r"\b(do\s+not|don't|never|without|must\s+not)\s+(\w+\s+){0,2}(call|us)(e|ing)?\b.{0,30}\btools?\b",
    re.IGNORECASE | re.DOTALL,
)
_OPENING = 400
# So far into a request for a summary its words are looked for.
_REQUEST = 4_000
# A shorter text may stand in another message by chance.
_TELLING = 30


def flat(text: str) -> str:
    """Text with runs of white space made one space, to compare quotations."""
    return " ".join(text.split())


def summary_index(messages: Sequence[Message], summaries: Collection[str] = ()) -> int | None:
    """The first message that stands for earlier history: a marked one, or one that quotes a reply
    given to a side request (`summaries`: texts of such replies)."""
    told = [flat(s) for s in summaries if len(flat(s)) >= _TELLING]
    for index, message in enumerate(messages):
        if message.role == "tool" or message.calls:
            continue
        if _SUMMARY.search(message.text[:_OPENING]):
            return index
        whole = flat(message.text) if told else ""
        if any(text in whole for text in told):
            return index
    return None


def is_chore(messages: Sequence[Message]) -> bool:
    """Whether the instructions (system text, the last user message) ask for a title, a summary or
    a commit message: a side request of the harness."""
    systems = [m.text for m in messages if m.role == "system"]
    users = [m.text for m in messages if m.role == "user"]
    return any(_CHORE.search(text[:_OPENING]) for text in [*systems[:1], *users[-2:]])


def is_toolless_chore(messages: Sequence[Message]) -> bool:
    """Whether the newest message asks for a summary and forbids the tools that are on offer: so
    Claude Code compacts, with its tools left in place for the sake of the cache."""
    if not messages or messages[-1].role != "user":
        return False
    text = messages[-1].text
    return bool(_NO_TOOLS.search(text[:_OPENING]) and _CHORE.search(text[:_REQUEST]))
