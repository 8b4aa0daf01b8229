"""Two message sequences side by side: align them, thread turns, pair taps, name the changes."""
