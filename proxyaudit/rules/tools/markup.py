"""How the model families write tool calls in raw text. A parser should have taken all this out."""

import re
from collections.abc import Collection

# Marks that no prose contains: special tokens of chat templates.
_TOKENS = re.compile(
    r"""
      <[|｜]DSML[|｜]                                                # DeepSeek V3.2 and V4
    | </?[|｜]tool[▁_]?(calls?|outputs?)[▁_](begin|end|sep)[|｜]>      # DeepSeek V3, R1
    | <\|tool_calls?(_section)?(_argument)?_(begin|end|start)\|>      # Kimi K2, LFM2
    | <\|/?tool_calls?\|> | <\|tool_call> | <tool_call\|>             # Phi, Granite, Gemma
    | <\|python_tag\|>                                                # Llama 3
    | <\|(action_start|plugin|function_call|tool_use)\|>              # InternLM and others
    | \[TOOL_CALLS\] | <TOOLCALL> | ✿FUNCTION✿                        # Mistral, Nemotron, old Qwen
    | <(start|end)_function_call>                                     # FunctionGemma
    | <\|channel\|>\s*commentary\s+to=                                # gpt-oss (harmony)
    | \bto=functions\.[A-Za-z_][\w.-]*\s*<\|                          # gpt-oss, torn
    """,
    re.VERBOSE,
)
# Tags that a text may well mention: they count where a line starts, or with a tool's name inside.
_TAGS = re.compile(
    r"""
      <(?P<tag>(?:[a-z]+:)?(?:tool_calls?|toolcall|function_calls?|tool_use))>
    | <(?:[a-z]+:)?invoke\s+name=["']
    | <function(?:=|\s+name=["'])
    | \bto=functions\.
    | \[(?:TOOL_CALL|tool_call)[\]:]
    | <tool_code>
    """,
    re.VERBOSE,
)
_REACH = 200


def find_markup(text: str, offered: Collection[str]) -> re.Match[str] | None:
    """The first piece of call markup in a text from which code has been taken out."""
    token = next((m for m in _TOKENS.finditer(text) if _is_call(text, m, offered, True)), None)
    tag = next((m for m in _TAGS.finditer(text) if _is_call(text, m, offered, False)), None)
    return min((m for m in (token, tag) if m), key=lambda m: m.start(), default=None)


def _is_call(text: str, mark: re.Match[str], offered: Collection[str], token: bool) -> bool:
    """Whether a mark begins a call: what follows is a tool's name or more markup. A token alone may
    also end the text, or begin a line that does not go on in prose."""
    after = text[mark.end() : mark.end() + _REACH]
    if any(_names(after, name) for name in offered):
        return True
    opens = _opens_line(text, mark.start())
    if after.lstrip().startswith(("{", "[", "<")):
        return token or opens
    return token and (not after.strip() or (opens and not re.match(r"\s+[A-Za-z]", after)))


def _opens_line(text: str, at: int) -> bool:
    """Whether nothing but white space stands before a place in its line. A deeper indent than the
    reach is none: to look for the start of one endless line at every mark would cost its square."""
    begin = max(0, at - _REACH)
    _, cut, line = text[begin:at].rpartition("\n")
    return not line.strip() and (bool(cut) or begin == 0)


def _names(after: str, name: str) -> bool:
    """Whether a tool's name follows at once, or stands where markup has a name."""
    if name not in after:
        return False
    word = re.escape(name)
    at_once = rf"\s*(?:functions?[.:/])?{word}\b(?!\s+[a-z])"
    return bool(
        re.match(at_once, after) or re.search(rf"""["'=.:\[{{(>]{word}["'({{\[<>:]""", after)
    )
