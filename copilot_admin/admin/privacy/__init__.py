"""Pages of retention, redaction, legal holds and erasure."""
