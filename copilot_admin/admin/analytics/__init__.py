"""What copilots were used for, how well they worked, whether they were liked and what they cost.

Doors: `views` for the site.
"""
