"""Untrusted values as HTML and SVG: text, Markdown, tables and charts.

In come strings and rows of strangers; out comes markup that runs nothing and fetches nothing.
Doors: `text`, `markdown`, `tables`, `charts`, `marking`.
"""
