"""One file per wire format. `read.read_turn` picks the right one for an exchange."""
