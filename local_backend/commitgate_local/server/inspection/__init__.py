"""Show recent answers of a server step by step, to whoever has logged in for it."""
