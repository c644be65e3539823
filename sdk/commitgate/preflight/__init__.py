"""Look everything over before a launch."""
