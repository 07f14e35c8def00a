"""What the client does for the model: calls that leave, results and memory that come back.

Doors: `call`, `widget_data`, `after_data`, `memory`, `widget_offer`, `dashboard`,
`dashboard_sources`, `skills`.
"""
