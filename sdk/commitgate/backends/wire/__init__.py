"""Read what comes over the wire: bytes into events, and whether they really ended. Sans-IO."""
