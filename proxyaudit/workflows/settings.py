"""`proxyaudit.toml`: facts and defaults that a project states once (`docs/configuration.md`)."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from proxyaudit.core.errors import UserError
from proxyaudit.core.recording import Assume
from proxyaudit.workflows.selection import closest, rules_for

NAME = "proxyaudit.toml"
_TABLE = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_STEP = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_AT = re.compile(r"(.*) \(at line (\d+), column \d+\)", re.DOTALL)


class Facts(Assume):
    """`[assume]`: as in a recording, but a key that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Settings(BaseModel):
    """What the file may hold. `fail_on` None: not stated. `targets` is for other commands."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    assume: Facts = Facts()
    select: list[str] = []
    ignore: list[str] = []
    fail_on: Literal["error", "warn", "info", "never"] | None = None
    targets: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Found:
    """Settings, and the file that holds them; None if there is none."""

    settings: Settings = field(default_factory=Settings)
    path: Path | None = None


def find_settings(folder: Path) -> Found:
    """The settings for a folder: of the nearest file in it or above, up to the repository's root.

    Outside of a repository only the folder itself is looked at: what stands above is not the
    project's. UserError, with the line, for a file that is not right.
    """
    path = next((f / NAME for f in _up_to_root(folder) if (f / NAME).is_file()), None)
    return Found() if path is None else Found(read_settings(path), path)


def read_settings(path: Path) -> Settings:
    """The settings in a file; UserError, with the line, if it is not right."""
    try:
        source = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    try:
        settings = Settings.model_validate(tomllib.loads(source))
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(path, str(error)) from None
    except ValidationError as error:
        raise _not_valid(path, source, error) from None
    for key in ("select", "ignore"):
        _check_rules(path, source, key, getattr(settings, key))
    return settings


def stated(assume: Assume, settings: Settings) -> Assume:
    """The facts of a recording, those of the settings put over them."""
    over = settings.assume.model_dump(exclude_defaults=True)
    aliases = {**assume.model_aliases, **settings.assume.model_aliases}
    return Assume.model_validate({**assume.model_dump(), **over, "model_aliases": aliases})


def _up_to_root(folder: Path) -> list[Path]:
    here = folder.resolve()
    every = [here, *here.parents]
    root = next((n for n, f in enumerate(every) if (f / ".git").exists()), 0)
    return every[: root + 1]


def _not_toml(path: Path, problem: str) -> UserError:
    match = _AT.fullmatch(problem)
    where, what = (f"{path}:{match[2]}", match[1]) if match else (str(path), problem)
    return UserError(f"{where}: {what}", "text values stand in quotes, lists in square brackets")


def _not_valid(path: Path, source: str, error: ValidationError) -> UserError:
    first = error.errors(include_url=False, include_input=True)[0]
    steps = tuple(str(step) for step in first["loc"])
    where = f"{path}:{line_of(source, steps)}"
    name = ".".join(step for step in steps if not step.isdigit())
    if first["type"] == "extra_forbidden":
        return UserError(f"{where}: unknown key {name!r}", _nearest(steps))
    if first["type"] == "literal_error":
        choices = str(first["ctx"]["expected"])
        return UserError(f"{where}: {first['input']!r} is no value of {name}", f"one of: {choices}")
    hint = 'write it as a list: ["…"]' if first["type"] == "list_type" else ""
    return UserError(f"{where}: {name}: {first['msg'][:1].lower()}{first['msg'][1:]}", hint)


def _nearest(steps: tuple[str, ...]) -> str:
    known = list(Facts.model_fields if steps[0] == "assume" else Settings.model_fields)
    near = closest(steps[-1], known, limit=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"


def _check_rules(path: Path, source: str, key: str, words: list[str]) -> None:
    for word in words:
        try:
            rules_for([word])
        except UserError as error:
            where = f"{path}:{line_of(source, (key,), word)}"
            raise UserError(f"{where}: {error.message}", error.hint) from None


def line_of(source: str, steps: tuple[str, ...], word: str = "") -> int:
    """The number of the line at which a key is set (or, after it, a word stands); from 1.

    The nearest known one where the key is spelt in a way that is not understood here.
    """
    table: tuple[str, ...] = ()
    wanted = tuple(step for step in steps if not step.isdigit())
    best, depth = 1, 0
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if head := _TABLE.fullmatch(line):
            table = _steps(head[1])
            here = table
        elif key := _KEY.match(line):
            here = (*table, *_steps(key[1]))
        else:
            continue
        common = _common(here, wanted)
        if common > depth and common == min(len(here), len(wanted)):
            best, depth = number, common
    after = (n for n, line in enumerate(lines[best - 1 :], best) if word and word in line)
    return next(after, best)


def _steps(dotted: str) -> tuple[str, ...]:
    return tuple(step.strip("\"'") for step in _STEP.findall(dotted))


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    pairs = zip(left, right, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
