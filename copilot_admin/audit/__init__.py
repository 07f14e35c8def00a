"""Audit trail: hash-chained entries of who changed, read, exported or erased what."""
