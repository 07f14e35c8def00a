"""The transcript store: each run is committed before its first byte, and again before its last."""
