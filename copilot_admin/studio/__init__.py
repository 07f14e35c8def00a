"""Where a builder tries, compares and goes back: drafts in trial, differences, versions.

In come drafts, documents and texts; out go drafts that can be asked, differences as marked parts,
and versions with what became of them. Doors: `playground`, `differences`, `changes`, `versions`.
"""
