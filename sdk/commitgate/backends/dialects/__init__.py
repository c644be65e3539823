"""Know the servers' APIs: what each is sent, and how its answer is read. Sans-IO."""
