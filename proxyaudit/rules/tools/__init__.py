"""Tool calls, their arguments, ids and results."""
