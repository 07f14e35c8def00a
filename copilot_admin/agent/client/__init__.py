"""What the client does for the model: calls that leave, results and memory that come back.

Doors: `call`, `call_budget`, `call_size`, `widget_data`, `data_wishes`, `after_data`, `memory`,
`extra_state`, `named_widgets`, `widget_offer`, `dashboard`, `dashboard_sources`, `skills`.
"""
