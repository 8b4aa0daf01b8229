"""model.substituted"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Place
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, at, rule

# Words in a name that do not make it another model: a version or a date, a size, a quantisation, a
# format, how it was tuned to chat. Words such as mini, flash, coder or thinking do.
_HARMLESS = re.compile(
    r"""preview|exp|experimental|v?\d[\d.]*
    | \d+(\.\d+)?[bmt] | [ae]\d+(\.\d+)?b | \d+x\d+(\.\d+)?b
    | (nv|mx)?fp(4|8|16|32) | bf16 | f16 | f32 | w\d+a\d+ | (u?int)[48] | [2-8]bit | i?q\d\w*
    | awq | gptq | mlx | exl[23] | bnb | hf | ud
    | instruct | chat | it""",
    re.VERBOSE,
)
_DATE = re.compile(r"(?<!\d)(?:(\d{4})-)?(\d\d)-(\d\d)(?!\d)")
# Where a name is cut: not inside 2.5, and not inside q4_k_m.
_CUT = re.compile(r"[-@:\s]+|(?<!\d)\.|\.(?!\d)")
_QUANTISED = re.compile(r"(?<![a-z0-9])(i?q\d)((?:_[a-z0-9]+)+)")
_NUMBER = re.compile(r"v?\d[\d.]*")
_LONGEST = 300
# How a router is to choose among the servers of a model, and how large a window is asked for.
_ROUTE = re.compile(r":(free|nitro|floor|online|extended|exacto)$|\[\w+\]$", re.IGNORECASE)
# What says nothing of the model itself.
_NOTHING = frozenset({"", "latest", "gguf"})


@rule("model.substituted", severity="error", on=Turn)
def answered_by_another(turn: Turn, facts: Facts) -> Iterator[Found]:
    """Another model answered than the one asked for.

    What it does
        Compares the model that a request names with the one that the reply names, and, with two
        taps, with the one that the proxy asks the backend for. The same model are: a name with a
        date, a version, a size (30B, A3B), a quantisation or "instruct" put in, one with a vendor
        or a path in front, and an alias that you have stated. Another word makes it another model,
        however much the names share: mini, small, large, nano, flash, lite, turbo, coder, thinking.
        A server that calls every model by one plain alias is reported, too: that it is the same
        model cannot be seen.

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
            places=(model_place(turn),),
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


def model_place(turn: Turn) -> Place:
    """Where a reply names its model; a stream does so in many of its events."""
    stream = turn.reply is not None and turn.reply.stream is not None
    return at(turn, "response", "/stream" if stream else "/model")


def _same(asked: str, given: str, facts: Facts) -> bool:
    if asked == given or given in facts.assume.model_aliases.get(asked, []):
        return True
    short, long = sorted((_words(asked), _words(given)), key=len)
    return bool(short) and _is_within(short, long)


def _is_within(short: list[str], long: list[str]) -> bool:
    """Whether `long` is `short` with harmless words put in. A number after a number is not: 4-5 is
    another version than 4."""
    at, before = 0, ""
    for word in long:
        if at < len(short) and word == short[at]:
            at += 1
        elif not _HARMLESS.fullmatch(word) or (
            _NUMBER.fullmatch(word) and len(word) < 3 and before[-1:].isdigit()
        ):
            return False
        before = word
    return at == len(short)


def _words(name: str) -> list[str]:
    """The words of a name, without vendor or folder in front and `latest` behind."""
    base = _base(_ROUTE.sub("", name[-_LONGEST:])).casefold()
    base = _QUANTISED.sub(lambda m: m[1] + m[2].replace("_", ""), base).replace("_", "-")
    base = _DATE.sub(lambda m: "".join(m.groups("")), base)
    return [word for word in _CUT.split(base) if word not in _NOTHING]


def _base(name: str) -> str:
    """The last step of a path; of a snapshot in the cache of a model hub, the model's name."""
    path = name.replace("\\", "/").rstrip("/").partition("/snapshots/")[0]
    last = path.rpartition("/")[2]
    return last.rpartition("--")[2] if last.startswith("models--") else last
