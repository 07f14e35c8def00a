"""Where a builder tries, compares and goes back: what a draft, a version or an answer differs in.

In come documents and texts; out go their differences as marked parts, and versions with what became
of them. Doors: `differences`, `changes`, `versions`.
"""
