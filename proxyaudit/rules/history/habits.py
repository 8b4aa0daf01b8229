"""Changes of history that a known harness makes as a habit: told at info, by its name.

One habit is so common that it is lawful for any client: a `<system-reminder>` that it takes out of
an older message, or puts into one.
"""

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import Message
from proxyaudit.harnesses.base import REMINDER, UNKNOWN, harness_of
from proxyaudit.rules.base import Facts


def habit(found: Comparison, facts: Facts, old: Message, new: Message) -> str | None:
    """What a known harness did, in words; None if no habit of its explains the change."""
    if found.relation is not Relation.NEXT_TURN:
        return None
    harness = harness_of(found.left.exchange, facts.assume.harness)
    if harness is UNKNOWN:
        return _reminded(old, new)
    if harness.pruned and old.role == "tool" and harness.pruned.fullmatch(new.text.strip()):
        return f"{harness.name} pruned an old tool result of {len(old.text):,} characters"
    if harness.without_notes(old.text) == harness.without_notes(new.text):
        more = len(new.text) > len(old.text)
        did = "put a note of its own into" if more else "took a note of its own out of"
        return f"{harness.name} {did} a {old.role} message"
    if harness.environment and all(harness.environment.match(m.text.strip()) for m in (old, new)):
        return f"{harness.name} rebuilt its description of the environment"
    return None


def _reminded(old: Message, new: Message) -> str | None:
    """What an unknown client did to a reminder, if all other text is as it was."""
    if (
        old.role != new.role
        or REMINDER.sub("", old.text).strip() != REMINDER.sub("", new.text).strip()
    ):
        return None
    before, after = (len(REMINDER.findall(m.text)) for m in (old, new))
    if not before and not after:
        return None
    did = "put a reminder into" if after > before else "took a reminder out of"
    return f"the harness {did if after != before else 'changed a reminder in'} a {old.role} message"
