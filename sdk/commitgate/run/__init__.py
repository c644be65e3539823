"""Run one call: ask a backend, show what grows, judge the end, commit. The public face is ``commitgate.client``."""
