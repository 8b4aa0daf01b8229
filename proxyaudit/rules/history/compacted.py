"""history.compacted"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, count, excerpt


@rule("history.compacted", severity="info", on=Comparison, relations=(Relation.NEXT_TURN,))
def compacted(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A marked summary stands for earlier messages; nothing pending is lost.

    What it does
        Recognises a summary by its mark, or because it quotes the reply to a summary request that
        was recorded, and says how many messages it stands for.

    Why it matters
        Compaction is lawful and lossy. When an agent forgets details right after it, this is why.

    Example
        Bad: the summary replaces a request that was not answered yet (message.dropped).
        Good: [system, user "<summary>…</summary>", user "the pending request"].

    What to look at next
        The text of the summary: is what the agent forgot in it?
    """
    if not found.compacted or found.summary is None or found.pending is not None:
        return
    gone = len(found.left_messages) - sum(
        found.left_messages[i].content == found.right_messages[j].content for i, j in found.pairs
    )
    yield Found(
        f"{actor(found)} compacted {count(gone, 'message')} into a summary",
        places=(found.right_place(found.summary),),
        evidence={"text": excerpt(found.right_messages[found.summary].text)},
    )
