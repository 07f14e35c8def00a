"""Untrusted values as HTML and SVG: text, Markdown, tables, charts and inputs of forms."""
