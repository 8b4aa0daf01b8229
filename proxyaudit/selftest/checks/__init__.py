"""One check a file: its id, what it proves, the scripts it plays, and a pure judge."""
