"""Sources of model answers: one class in one file each; `registry` finds them.

Doors: `registry`, and `rehearsal` for the samples of components.
"""
