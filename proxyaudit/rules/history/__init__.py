"""Messages that were lost, rewritten, repeated or moved."""
