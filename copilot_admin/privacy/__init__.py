"""For how long data is kept: what is removed, how, and what may not be.

In come scopes (a conversation, a user, a caller, a copilot, a period) and clocks; out go rows, spooled files
and what the database's own files still hold. Doors: `scopes`, `holds`, `retention`,
`counting`, `rows`, `users`, `finding`, `forgetting`, `spooled`, `told_words`, `leftovers`, `trail`.
"""
