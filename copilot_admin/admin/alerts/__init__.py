"""The pages of alerts: rules, webhooks, digests, what was wrong, what was told.

Its pages register themselves: `admin` imports them.
"""
