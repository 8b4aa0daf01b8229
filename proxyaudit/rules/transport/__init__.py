"""What a hop did to a message as a whole: refused it, gave up on it, packed it wrongly."""
