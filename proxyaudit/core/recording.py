"""What one run recorded: exchanges, and the facts that go with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON


class Assume(BaseModel):
    """Facts a user may state. Without one, a rule that needs it says so instead of guessing."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    reasoning_echo: Literal["tool_turns", "always", "forbidden"] | None = None
    model_aliases: dict[str, list[str]] = {}
    harness: str | None = None
    client_credential_is_for: Literal["proxy", "upstream"] | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something in a recording that could not be read; `where` is a file and line."""

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording in memory: exchanges in order of start, and what could not be read.

    `about` is what its recorder wanted to be known: `upstream`, `backend`, `replay_of`.
    """

    target: str
    exchanges: tuple[Exchange, ...]
    assume: Assume = field(default_factory=Assume)
    flaws: tuple[Flaw, ...] = ()
    about: Mapping[str, JSON] = field(default_factory=dict)
