"""What the client does for the model: calls that leave, results and memory that come back.

Doors: `call`, `call_budget`, `widget_data`, `data_wishes`, `after_data`, `memory`, `extra_state`,
`widget_offer`, `dashboard`, `dashboard_sources`, `skills`.
"""
