"""How a streamed reply arrives."""
