"""The pages in which a copilot is made: list, form, preview, templates and publishing.

Doors: `admin` for the site, `model_lists` for the pages of providers, `form` for the playground.
"""
