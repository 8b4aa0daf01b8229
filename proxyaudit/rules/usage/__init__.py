"""Token counts in replies."""
