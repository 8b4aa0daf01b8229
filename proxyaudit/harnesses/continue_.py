"""Continue: never sends reasoning back; sends nothing that names it or its session."""

from proxyaudit.harnesses.base import Harness

HARNESS = Harness("continue", echoes_reasoning=False)
