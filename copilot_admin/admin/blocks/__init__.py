"""An answer as the blocks that its reader sees, in transcripts and in the trial of a component.

Doors: `blocks`, `contents`, `kinds`, `fields`.
"""
