"""Proof of transparency: scripted exchanges, played direct and through a proxy, and compared."""
