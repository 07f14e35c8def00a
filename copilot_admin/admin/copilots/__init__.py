"""The pages in which a copilot is made: list, form, preview, templates and publishing.

`admin` registers them; `model_lists` is lent to the pages of providers.
"""
