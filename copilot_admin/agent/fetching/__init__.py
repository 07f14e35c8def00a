"""Outgoing requests: permitted addresses, proxies, and the client that checks both."""
