"""Arithmetic, returns, tables, ranking, images in Markdown: libraries that know nothing of copilots.

Doors: `arithmetic`, `returns`, `table_operations` (its `arguments` and `telling` too), `ranking`,
`markdown_images`.
"""
