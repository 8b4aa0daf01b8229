"""The nouns of proxyaudit. Types only: nothing in here reads a file, a socket or a clock."""
