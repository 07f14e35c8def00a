"""Work on what strangers sent, in processes that end with it and have limits.

In come an order and bytes, out come replies in JSON. Doors: `workers` and `places` for whoever has
such work, `losses` for what became of it, `fork_server` and `limits` for the program that does it.
"""
