"""Arithmetic, returns, tables, ranking, images in Markdown, names: libraries that know no copilots.

Doors: `arithmetic`, `returns`, `table_operations` (its `arguments` and `telling` too), `ranking`,
`markdown_images`, `texts_within`, `told_names`.
"""
