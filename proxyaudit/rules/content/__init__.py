"""The content of messages that arrived: parts missing, escaped twice, made null."""
