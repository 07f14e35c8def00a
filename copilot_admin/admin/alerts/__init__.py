"""The pages of alerts: rules, webhooks, digests, what was wrong, what was told.

Doors: `digests`, `history`, `rules` and `webhooks`, which register themselves.
"""
