"""For how long data is kept: clocks, redaction, legal holds, erasure. Door: `views`."""
