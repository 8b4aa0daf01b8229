"""Thinking: where it stands, and whether it comes back."""
