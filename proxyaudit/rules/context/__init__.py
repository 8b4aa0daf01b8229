"""How much of the prompt was counted."""
