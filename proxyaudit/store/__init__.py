"""Recordings: append to them, read them, and read what other programs wrote."""
