"""pi: append-only; sends nothing that names it or its session."""

from proxyaudit.harnesses.base import Harness

HARNESS = Harness("pi", echoes_reasoning=True)
