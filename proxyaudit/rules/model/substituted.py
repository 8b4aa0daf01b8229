"""model.substituted"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Place
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, at, rule

# What may follow a name without making it another model: a date, a version, a quantisation.
_SUFFIX = re.compile(
    r"[-_@:.]?(latest|preview|exp|v?\d[\d.\-]*|\d{4}-?\d{2}-?\d{2}"
    r"|fp8|fp16|bf16|int[48]|awq|gptq|gguf|q\d\w*|instruct|chat)",
    re.IGNORECASE,
)


@rule("model.substituted", severity="error", on=Turn)
def answered_by_another(turn: Turn, facts: Facts) -> Iterator[Found]:
    """Another model answered than the one asked for.

    What it does
        Compares the model that a request names with the one that the reply names, and, with two
        taps, with the one that the proxy asks the backend for. A dated or quantised name, a vendor
        prefix or a path in front, and an alias that you have stated, are the same model.

    Why it matters
        A smaller model with a shorter window forgets sooner. Routers fall back without a word.

    Example
        Bad: asked for "tern-large", answered by "wren-mini".
        Good: asked for "tern-large", answered by "tern-large-2026-05-01".

    What to look at next
        The router's fallbacks. If the mapping is meant, state it: `--assume
        model_aliases=ALIAS=NAME`.
    """
    asked, given = turn.prompt.model, turn.reply.model if turn.reply else None
    if asked and given and turn.ok and not _same(asked, given, facts):
        yield Found(
            f"the model “{given}” answered, and “{asked}” was asked for",
            places=(at(turn, "response", "/model"),),
            before=(at(turn, "request", "/model"),),
            evidence={"asked": asked, "answered": given},
        )


@rule("model.substituted", severity="warn", on=Comparison, relations=(Relation.FORWARDED,))
def asked_for_another(found: Comparison, facts: Facts) -> Iterator[Found]:
    asked, sent = found.left.prompt.model, found.right.prompt.model
    if asked and sent and not _same(asked, sent, facts):
        yield Found(
            f"the proxy asked for the model “{sent}” where the harness asked for “{asked}”",
            places=(Place(found.right.id, found.right.request_side, "/model"),),
            before=(Place(found.left.id, found.left.request_side, "/model"),),
            confidence="possible",
            evidence={"asked": asked, "sent": sent},
        )


def _same(asked: str, given: str, facts: Facts) -> bool:
    if given in facts.assume.model_aliases.get(asked, []):
        return True
    a, b = _stem(asked), _stem(given)
    short, long = sorted((a, b), key=len)
    if a == b:
        return True
    rest = long.removeprefix(short) if long.startswith(short) else None
    return rest is not None and not re.sub(_SUFFIX, "", rest).strip("-_@:.")


def _stem(name: str) -> str:
    """A name without vendor or folder in front, and without `latest` behind."""
    base = name.rstrip("/").rsplit("/", 1)[-1].casefold()
    return base.removesuffix(".gguf").removesuffix("-latest").removesuffix(":latest")
