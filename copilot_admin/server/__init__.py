"""A server from its first start to its last: set-up, listening, housekeeping and shutdown.

Doors: `serving` and `first_start` for the commands, `housekeeping` for the life of the application.
"""
