"""People: who works on which copilot, what the firm's log-in says of them, where they are logged in.

Doors: `members` for whoever looks copilots up for somebody, `external`, `log_ins` and `vouching` for
whoever lets people in, `mailing` for whoever writes to them.
"""
