"""Outgoing requests: which addresses may be reached, proxies, and the client that checks both."""
