"""What is done in the background: copilots are deleted, what nobody needs is swept.

In come marks on rows; out go rows and files. Doors: `deletion`, `sweeping`, `images`, `tasks`,
`background`.
"""
