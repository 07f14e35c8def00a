"""Untrusted values as HTML and SVG: text, Markdown, tables, charts, inputs of forms; what pages load.

In come strings and rows of strangers; out comes markup that runs nothing and fetches nothing, or a cell
that no spreadsheet takes for a formula.
Doors: `text`, `markdown`, `tables`, `charts`, `inputs`, `marking`, `no_formula`,
`static_addresses`.
"""
