"""Usage, reliability, feedback and cost of copilots.

Doors: `views` for the site.
"""
