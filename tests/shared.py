"""Fault cases and captures that stand beside a checkout, where they are there."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
CASES = sorted((SHARED / "corpus" / "dev").glob("*.json"))
CAPTURES = sorted((SHARED / "captures").glob("*.flow"))

needs_cases = pytest.mark.skipif(not CASES, reason="no fault corpus beside this checkout")
needs_captures = pytest.mark.skipif(not CAPTURES, reason="no captures beside this checkout")


def case(path: Path) -> dict[str, Any]:
    """A fault case with its macros expanded."""
    loaded: dict[str, Any] = _module("check").load(path)
    return loaded


def as_recording(path: Path) -> str:
    """A fault case as a recording in JSON Lines."""
    text: str = _module("convert").text(path)
    return text


def misses(wanted: dict[str, Any], report: str) -> list[str]:
    """What the corpus's own scorer has to say against a report."""
    found: list[str] = _module("score").misses(wanted, json.loads(report))
    return found


def _module(name: str) -> Any:
    folder = str(SHARED / "corpus")
    sys.path.insert(0, folder)
    try:
        return __import__(name)
    finally:
        sys.path.remove(folder)
