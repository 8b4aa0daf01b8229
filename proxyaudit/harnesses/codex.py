"""Codex: append-only; a window header tells when it compacted."""

from proxyaudit.harnesses.base import Harness

HARNESS = Harness(
    "codex",
    agent="codex",
    marker="x-codex-turn-metadata",
    window="x-codex-window-id",
    echoes_reasoning=True,
)
