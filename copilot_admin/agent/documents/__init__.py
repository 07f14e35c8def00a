"""Files as text for a model: one file for each format.

Public API: `registry`, which finds formats, and `text_encodings` for content that resembles text.
"""
