"""Trying a draft beside its form: the question is asked of what is typed, not of what is saved.

Doors: `urls`.
"""
