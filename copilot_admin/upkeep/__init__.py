"""What is done in the background: copilots are deleted, old rows filled, what nobody needs swept.

In come marks on rows; out go rows and files. Doors: `deletion`, `filling`, `sweeping`,
`images`, `tasks`, `background`, `free_space`, `resealing`, all of `backups`.
"""
