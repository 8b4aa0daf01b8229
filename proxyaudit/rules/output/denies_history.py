"""output.denies_history"""

import re
from collections.abc import Iterator

from proxyaudit.core.message import Reasoning
from proxyaudit.core.turn import Prompt, Turn
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.output.denial import DENIAL
from proxyaudit.rules.reading import not_whole, simple, text_place, visible, whole, without_code
from proxyaudit.rules.wording import count, excerpt

# What a reply denies it denies at its beginning; further down it speaks of other things.
_OPENING = 500
_QUOTED = re.compile(r'"[^"]*"|^ {0,3}>.*$', re.MULTILINE)
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


@rule("output.denies_history", severity="warn", on=Turn)
def denies_history(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """The reply says nothing came before although history was sent.

    What it does
        Looks at the beginning of a reply for sentences such as "This is the first message in our
        conversation" or "I don't see any earlier messages", where the request holds an earlier
        exchange. Quotations and code are left out, and so is a phrase that the user brought up.
        English only. A model may say so for reasons of its own, so this is likely, never certain.

    Why it matters
        It is the most visible sign that the history was lost behind the place where it was seen: in
        the proxy, in the server's chat template, or in its cache.

    Example
        Bad: [user A, assistant B, user C] is answered "This is the very first message, so there is
        no list yet."
        Good: an answer that knows A and B.

    What to look at next
        `usage.prompt_tokens`: does it fit what was sent? Then `proxyaudit replay` with this turn
        straight at the backend.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    _, message = said
    text = visible(message)
    plain = simple(_QUOTED.sub(" ", without_code(text.translate(_STRAIGHT))))
    denial = DENIAL.search(plain[:_OPENING])
    if denial is None:
        return
    earlier = _exchanges(turn.prompt)
    if not earlier or _is_brought_up(turn.prompt, denial[0]):
        return
    yield Found(
        f"the reply says that nothing came before ({denial[0].strip()!r}), yet the request holds "
        f"{count(earlier, 'earlier reply').replace('replys', 'replies')}",
        places=(text_place(turn, message),),
        confidence="likely",
        evidence={"text": excerpt(text), "earlier_replies": earlier},
    )


def _exchanges(prompt: Prompt) -> int:
    """Earlier replies with a user message before them: an exchange that can be denied."""
    roles = [m.role for m in prompt.messages if any(not isinstance(p, Reasoning) for p in m.parts)]
    start = roles.index("user") if "user" in roles else len(roles)
    last = max((n for n, role in enumerate(roles) if role == "user"), default=0)
    return sum(role == "assistant" for role in roles[start : last + 1])


def _is_brought_up(prompt: Prompt, words: str) -> bool:
    return any(words.strip() in simple(m.text) for m in prompt.messages if m.role != "assistant")
