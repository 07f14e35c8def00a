"""What surrounds every page: the site, its start page, its navigation and the log-in.

Doors: `site`, and `login` for `settings`.
"""
