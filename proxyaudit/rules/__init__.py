"""One file per rule, in a folder per family, found by discovery."""
