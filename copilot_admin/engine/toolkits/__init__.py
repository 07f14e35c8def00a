"""Arithmetic, returns, tables and ranking: libraries that know nothing of copilots.

Doors: `arithmetic`, `returns`, `table_operations` (its `arguments` and `telling` too), `ranking`.
"""
