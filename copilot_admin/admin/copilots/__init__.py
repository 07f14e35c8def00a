"""The pages in which a copilot is made: list, form, preview, templates and publishing.

Doors: `admin` for the site, `form` for the playground.
"""
