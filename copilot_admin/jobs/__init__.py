"""What is done in the background: copilots are deleted, transcripts removed, old rows filled, leftovers swept.

In come marks on rows; out go rows and files. Doors: `deletion`, `removals`, `removing`, `filling`, `sweeping`,
`images`, `tasks`, `background`, `half_pace`, `free_space`, `resealing`, `costs`, all of `backups`.
"""
