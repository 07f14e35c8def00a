"""The wire: three generations of the copilot protocol as values, readers and encoders.

In come bytes of a client, out go a `Query`; in come events, out go frames. Knows no framework and
nothing of the service. `requests` reads, `dialects` and `sse` say; all its modules are doors.
"""
