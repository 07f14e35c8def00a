"""The pages on which operators set limits and see what was used.

Doors: `views` for the site, `near` for its start page.
"""
