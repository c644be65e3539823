"""Find out whether a server enforces what it is asked to: ask it for one thing, and constrain it to another."""
