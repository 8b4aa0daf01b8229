"""Qwen Code: the first user message describes the folder and is rebuilt when it continues."""

import re

from proxyaudit.harnesses.base import REMINDER, Harness

HARNESS = Harness(
    "qwen-code",
    agent="qwencode/",
    ephemeral=REMINDER,
    environment=re.compile(r"This is the Qwen Code\.", re.IGNORECASE),
    echoes_reasoning=True,
)
