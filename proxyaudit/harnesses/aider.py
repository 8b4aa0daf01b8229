"""aider: builds its history anew for each request and puts reasoning into the text."""

from proxyaudit.harnesses.base import Harness

HARNESS = Harness("aider", rewrites=True)
