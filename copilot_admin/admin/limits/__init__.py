"""Admin pages on which operators set limits, see what is used and what was rejected."""
