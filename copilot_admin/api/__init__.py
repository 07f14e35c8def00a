"""The HTTP interface: thin routers over the rooms below, and its OpenAPI document."""
