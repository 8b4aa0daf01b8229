"""Walls between conversations: what one of them knows and another one says."""
