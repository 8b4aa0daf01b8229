"""Prompt caches and response caches: broken by the harness, defeated on the way, or stale."""
