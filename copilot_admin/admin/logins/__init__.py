"""Logging in with the firm's accounts, forgotten passwords, and where one is logged in.

Doors: `site_views` for the site, `middleware` and `backend` for the settings, `urls` for the addresses.
"""
