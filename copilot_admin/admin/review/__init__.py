"""What a team reviews by: its labels and scores, its queues, and the files that it takes along.

Doors: `criteria`, `queues` and `exports` for the site.
"""
