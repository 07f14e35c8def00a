"""The HTTP API: routers, and its OpenAPI document."""
