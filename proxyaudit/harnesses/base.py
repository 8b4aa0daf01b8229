"""What a harness profile says, and which profile an exchange has."""

import importlib
import pkgutil
import re
from dataclasses import dataclass
from functools import cache

import proxyaudit.harnesses
from proxyaudit.core.exchange import Exchange, header


@dataclass(frozen=True, slots=True)
class Harness:
    """Lawful habits of one agent. Each module in this package has one `HARNESS`.

    `agent` is how its User-Agent begins, `marker` a header that only it sends. `ephemeral` matches
    text that it puts into messages for one request and takes out again; `environment` the beginning
    of a message that it rebuilds; `pruned` what it puts in place of old tool results. `invalid` is
    the name it gives to a call that it could not run. A header `window` whose value changes says
    that it compacted. `echoes_reasoning` says whether reasoning comes back in later requests.
    `rewrites` says that its history is never append-only.
    """

    name: str
    agent: str = ""
    marker: str = ""
    ephemeral: re.Pattern[str] | None = None
    environment: re.Pattern[str] | None = None
    pruned: re.Pattern[str] | None = None
    invalid: str | None = None
    window: str | None = None
    echoes_reasoning: bool | None = None
    rewrites: bool = False

    def sent(self, exchange: Exchange) -> bool:
        """Whether an exchange bears the marks of this harness."""
        headers = exchange.request.headers
        agent = header(headers, "user-agent") or ""
        if self.agent and agent.casefold().startswith(self.agent):
            return True
        return bool(self.marker) and header(headers, self.marker) is not None

    def without_notes(self, text: str) -> str:
        """The text without what the harness adds for one request only."""
        return self.ephemeral.sub("", text).strip() if self.ephemeral else text


UNKNOWN = Harness("the harness")
# The tag in which opencode, Claude Code and Qwen Code put notes for the current request. What opens
# and never closes is passed over at the next opening, so that a text is read once.
REMINDER = re.compile(
    r"<system-reminder>(?:(?!</?system-reminder>).)*+</system-reminder>\s*", re.DOTALL
)


@cache
def all_harnesses() -> tuple[Harness, ...]:
    """Every profile, by name."""
    names = [
        m.name for m in pkgutil.iter_modules(proxyaudit.harnesses.__path__) if m.name != "base"
    ]
    modules = [importlib.import_module(f"proxyaudit.harnesses.{name}") for name in sorted(names)]
    return tuple(module.HARNESS for module in modules)


def harness_of(exchange: Exchange, stated: str | None = None) -> Harness:
    """The profile of the harness that sent a request: the one stated, or the one it shows.

    Several agents cannot be told by what they send (pi, Cline, Continue, aider): state those.
    """
    for harness in all_harnesses():
        if harness.name == stated if stated else harness.sent(exchange):
            return harness
    return UNKNOWN
