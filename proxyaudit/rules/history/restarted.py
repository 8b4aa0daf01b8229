"""history.restarted"""

from collections.abc import Iterator

from proxyaudit.core.conversation import Conversation
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.output.denial import DENIAL
from proxyaudit.rules.reading import simple
from proxyaudit.rules.wording import excerpt


@rule("history.restarted", severity="info", on=Conversation)
def restarted(conversation: Conversation, facts: Facts) -> Iterator[Found]:
    """A conversation begins anew under the system prompt of one that had gone on before.

    What it does
        Many harnesses send no session label. When one of those sends a request with a system prompt
        that is known from an earlier, ended conversation, and no history at all, it is either a new
        conversation or the old one with its history lost; the bytes are the same. It is told at
        info, and at warn where the reply says by itself that nothing came before.

    Why it matters
        This is how "this is the very first message" looks at one tap and without a label.

    Example
        Bad: three turns about a shed list, then [system, user "Write the whole list to a file"],
        answered by "This is the very first message in our conversation".
        Good: the user opened a new conversation.

    What to look at next
        Was it one conversation to you? Then the harness lost the history. If the harness can send a
        header with a session id, switch that on: then the audit knows (history.reset).
    """
    if conversation.restarts is None:
        return
    first = conversation.turns[0]
    reply = first.reply.message.text if first.reply and first.reply.message else ""
    denies = DENIAL.search(simple(reply)[:400]) is not None
    told = ", and its reply says that nothing came before" if denies else ""
    yield Found(
        f"the harness began anew where conversation {conversation.restarts} had ended, with none "
        f"of its messages{told}",
        places=(at(first, "request", first.prompt.messages_pointer),),
        severity="warn" if denies else None,
        confidence="possible",
        evidence={"text": excerpt(reply)} if denies else {},
    )
