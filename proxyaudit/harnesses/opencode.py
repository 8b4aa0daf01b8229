"""opencode: reminders for one request, pruned tool results, calls renamed to `invalid`."""

import re

from proxyaudit.harnesses.base import REMINDER, Harness

HARNESS = Harness(
    "opencode",
    agent="opencode/",
    ephemeral=REMINDER,
    pruned=re.compile(r"\[Old tool result content cleared\]"),
    invalid="invalid",
    echoes_reasoning=True,
)
