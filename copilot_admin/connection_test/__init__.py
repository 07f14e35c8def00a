"""A test of what Workspace does when an agent is added, step by step, against this very server.

In come facts of a copilot and a way to ask the server; out come results in words. A part of
`studio`.
"""
