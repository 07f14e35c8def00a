"""Files as text for a model: one file for each format.

Doors: `registry`, which finds them, and `text_encodings` for what looks like text.
"""
