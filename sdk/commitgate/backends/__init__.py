"""Talk to what generates: the seam in ``base``, and one module for each backend."""
