"""What a team reviews by: its labels and scores, and its queues.

Doors: `criteria` and `queues` for the site.
"""
