"""A server from its first start to its last: set-up, listening, housekeeping and shutdown.

Doors: `serving`, `first_start`, `database`, `database_faults`, `open_files` and `sole_server` for the commands and `apps`,
`housekeeping` and `readings` for the life of the application. What it does every few seconds is in `duties`.
"""
