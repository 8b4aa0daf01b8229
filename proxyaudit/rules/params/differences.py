"""What a request's settings became on the other side of the hop.

Settings are compared under their common names. Not every difference matters: some fields are meant
for the gateway itself, some say what is the default anyway, some have no word in another dialect.
"""

from collections.abc import Iterator
from math import isclose
from typing import Literal, NamedTuple

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.finding import Severity
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Prompt

# Fields for the gateway or the provider's books: they do not reach the model.
_BOOKKEEPING = frozenset(
    {"user", "metadata", "store", "safety_identifier", "service_tier", "prompt_cache_key", "cache"}
    | {"promptCacheKey", "prompt_cache_retention", "client_metadata", "tags", "fallbacks", "usage"}
    | {"models", "route", "provider", "transforms", "plugins", "guardrails", "timeout", "betas"}
    | {"num_retries", "max_retries", "mock_response", "api_key", "api_base", "base_url", "caching"}
    | {"custom_llm_provider", "session_id", "trace", "anthropic_version", "anthropic_beta"}
    | {"drop_params", "additional_drop_params", "allowed_openai_params", "litellm_session_id"}
)
# To leave these out says the same.
_DEFAULTS: dict[str, JSON] = {
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "n": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "logprobs": False,
    "stream_options": {},
}
# What every dialect has a word for; a translator has no excuse to lose it.
_EVERYWHERE = frozenset({"max_tokens", "temperature", "top_p", "stop", "tool_choice", "thinking"})
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_THINKING = ("thinking", "reasoning_effort", "reasoning", "chat_template_kwargs", "enable_thinking")
# Objects that are one value, not a group of settings.
_ATOMS = frozenset({"response_format", "tool_choice", "logit_bias"})
_TOLD_TOOLS = frozenset({"tool_choice", "parallel_tool_calls"})


class Difference(NamedTuple):
    """A setting that is gone or has another value; pointers are into the two bodies."""

    kind: Literal["dropped", "changed"]
    name: str
    left: JSON
    right: JSON
    left_pointer: str
    right_pointer: str
    severity: Severity | None


def differences(found: Comparison) -> Iterator[Difference]:
    """All differences between the settings of the two requests; None is a rule's own severity."""
    left, right = found.left.prompt, found.right.prompt
    translated = found.left.dialect != found.right.dialect
    for name, value in left.settings.items():
        if _is_lawful(name, value, right, translated):
            continue
        here = left.setting_pointers.get(name, f"/{name}")
        there = right.setting_pointers.get(name, here)
        light = name in _BOOKKEEPING or (translated and name not in _EVERYWHERE)
        severity: Severity | None = "info" if light else None
        if name not in right.settings:
            yield Difference("dropped", name, value, None, here, there, severity)
        else:
            other = right.settings[name]
            yield from _compared(name, value, other, (here, there), severity)


def _compared(
    name: str, old: JSON, new: JSON, pointers: tuple[str, str], severity: Severity | None
) -> Iterator[Difference]:
    here, there = pointers
    if same(old, new):
        return
    if not isinstance(old, dict) or not isinstance(new, dict) or name in _ATOMS:
        yield Difference("changed", name, old, new, here, there, severity)
        return
    for key, value in old.items():
        inner = f"{name}.{key}"
        if key not in new:
            yield Difference(
                "dropped", inner, value, None, f"{here}/{key}", f"{there}/{key}", severity
            )
        elif not same(value, new[key]):
            yield Difference(
                "changed", inner, value, new[key], f"{here}/{key}", f"{there}/{key}", severity
            )


def same(old: JSON, new: JSON) -> bool:
    """Whether a value still says the same: 1.0 is 1, 32-bit floats are close enough, and an object
    may gain keys."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, int | float) and isinstance(new, int | float):
        return _same_number(old, new)
    if isinstance(old, dict) and isinstance(new, dict):
        return all(value is None or same(value, new.get(key)) for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    return old == new


def _same_number(old: float, new: float) -> bool:
    if old == new or (old != old and new != new):
        return True
    try:
        return isclose(old, new, rel_tol=1e-6)
    except OverflowError:  # An integer beyond all floats.
        return False


def _is_lawful(name: str, value: JSON, right: Prompt, translated: bool) -> bool:
    """Whether a setting may be absent, or has moved to another place."""
    if name in _LIMITS and any(same(value, right.settings.get(n)) for n in _LIMITS):
        return True
    if name in _TOLD_TOOLS and not right.tools:
        # Without tools it says nothing; that they are gone is tool.definitions_dropped.
        return name not in right.settings
    if name in right.settings:
        return False
    if value in ([], {}, "") or (name in _DEFAULTS and same(value, _DEFAULTS[name])):
        return True
    if name == "stream_options" and not right.stream:
        return True
    if translated and name in _THINKING and any(n in right.settings for n in _THINKING):
        return True
    return _is_nested(name, value, right) or _is_unpacked(value, right)


def _is_nested(name: str, value: JSON, right: Prompt) -> bool:
    """Whether the setting now stands inside another one, such as `extra_body`."""
    inner = (v for v in right.settings.values() if isinstance(v, dict))
    return any(name in group and same(value, group[name]) for group in inner)


def _is_unpacked(value: JSON, right: Prompt) -> bool:
    """Whether an object's keys now stand beside the other settings."""
    if not isinstance(value, dict) or not value:
        return False
    return all(same(item, right.settings.get(key)) for key, item in value.items())
