"""Arithmetic, returns, tables and ranking: libraries that know nothing of copilots."""
