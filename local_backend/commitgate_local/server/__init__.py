"""Serve a model to several people, in the form that clients of OpenAI's chat completions speak."""
