"""Log line, metrics and trace of each finished run (ADR 12)."""
