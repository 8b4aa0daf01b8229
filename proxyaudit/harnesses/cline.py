"""Cline: append-only within a process; sends nothing that names it or its session."""

from proxyaudit.harnesses.base import Harness

HARNESS = Harness("cline", echoes_reasoning=True)
