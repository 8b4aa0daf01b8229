"""Claude Code: reminders come and go, in user messages and inside tool results."""

from proxyaudit.harnesses.base import REMINDER, Harness

HARNESS = Harness(
    "claude-code",
    agent="claude-cli/",
    marker="x-claude-code-session-id",
    ephemeral=REMINDER,
    echoes_reasoning=True,
)
