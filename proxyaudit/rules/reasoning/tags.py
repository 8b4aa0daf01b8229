"""The tags and tokens by which models mark their thinking in raw text."""

import re
from typing import NamedTuple

_NAME = r"(?:[a-z]+:)?(?:think|thinking|thought|thoughts|reasoning|antthinking)"
# Thinking that opens the text.
_OPENING = re.compile(
    rf"""
    \s*(?P<mark>
        <{_NAME}> | <thinking-content-\w+>
      | <\|(?:think|thinking|begin_of_thought|start_thinking)\|>       # QwQ kin, Cohere
      | \[think\] | ◁think▷                                            # Magistral, Kimi
      | (?:<\|start\|>assistant)?<\|channel\|>\s*analysis              # gpt-oss
      | <\|channel>thought | <unused94>thought                         # Gemma
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# A sentence about the tag itself: "<think> is how models open their notes".
_SUBJECT = re.compile(
    r"\s+(?:is|and|or|are|was|opens?|closes?|marks?|tags?|begins?|starts?|means?)\b"
)
# gpt-oss with its special tokens stripped: the channel names are left, glued to the text.
_GLUED = re.compile(r"\s*analysis(?=[A-Z]).*?assistantfinal", re.DOTALL)
_CLOSING = re.compile(
    rf"</{_NAME}>|\[/think\]|◁/think▷|<\|(?:end_thinking|end_of_thought|/think)\|>", re.IGNORECASE
)
_BLOCK = re.compile(rf"^[ \t]*(?P<mark><{_NAME}>)", re.I | re.M)
_SENTENCE_END = re.compile(r"[.!?。！？…][\"')”’]?\s?\Z")
_SENTENCE = re.compile(r"\s?[\"'(“‘*#]{0,3}[^\W\d_a-z]")
_END = re.compile(rf"</{_NAME}>", re.I)


class Leak(NamedTuple):
    """A mark of thinking, and how sure it is that it is no mention of one."""

    mark: str
    certain: bool


def find_leak(text: str, plain: str) -> Leak | None:
    """Thinking in visible text: at its start, a block on lines of its own, or a closing tag that
    nothing opened. `plain` is the text without code."""
    opening = _OPENING.match(text)
    if opening and not _SUBJECT.match(text, opening.end()):
        return Leak(opening["mark"], certain=True)
    if _GLUED.match(text):
        return Leak("analysis…assistantfinal", certain=True)
    block = _block(plain)
    if block and not _SUBJECT.match(plain, block.end("mark")):
        return Leak(block["mark"], certain=False)
    return _unopened(plain)


def _block(plain: str) -> re.Match[str] | None:
    """The first tag on a line of its own that is closed somewhere: one pass, however many open."""
    opening = _BLOCK.search(plain)
    return opening if opening and _END.search(plain, opening.end()) else None


def _unopened(plain: str) -> Leak | None:
    closing = _CLOSING.search(plain)
    if closing is None:
        return None
    before, after = plain[: closing.start()], plain[closing.end() :]
    opened = closing[0].replace("/", "").lower() in before.lower()
    if opened or not (_stands_alone(before, after) or _ends_sentence(before, after)):
        return None
    return Leak(closing[0], certain=False)


def _stands_alone(before: str, after: str) -> bool:
    """In prose a tag that is mentioned has words on both sides; one that leaks ends its line."""
    return not before.rpartition("\n")[2].strip() or not after.partition("\n")[0].strip()


def _ends_sentence(before: str, after: str) -> bool:
    """Glued between a sentence and the next one, as no mention of a tag stands."""
    return bool(_SENTENCE_END.search(before[-8:]) and _SENTENCE.match(after))
