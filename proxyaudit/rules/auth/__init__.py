"""Credentials on the way: whose they are, and how far they get."""
