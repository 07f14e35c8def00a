"""Sends what strangers may send, class by class, while a bystander is being answered.

`python -m benchmarks.walls`. The room: `cases/` has a file for each class, `arena` is what such a
file is handed, `bystander` the one who must not notice, `memory` what the server takes meanwhile,
`strangers` the server of models and files, `report` what is promised and the table.
"""
