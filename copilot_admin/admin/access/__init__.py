"""Who may do what: keys of endpoints, people and their roles.

Doors: `keys` and `people`, for the site.
"""
