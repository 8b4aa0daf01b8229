"""Request parameters across the hop."""
