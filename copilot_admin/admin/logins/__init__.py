"""Logging in with the firm's accounts, forgotten passwords, and where one is logged in.

Doors: `site_views`, `forms`, `addresses` and `attempts` for the site, `log_in_rows` for the page of a person,
`middleware` and `backend` for the settings, `urls` and `password_reset` for the addresses.
"""
