"""The components that run on the server: one class in one file each; `registry` finds them.

Doors: `registry`, `base`, `inputs`.
"""
