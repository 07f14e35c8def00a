"""One question being answered: the run, its outbox, its speaker, and who watches.

In comes an admitted query; out come frames for the client, and a run in the journal. Doors:
`open_run` (open, pump, drain), `run`, `stops`, `admitted_query`, `feedback`, `watching`, `oversized_bodies`,
`refused`, `tasks`, `full_collections`, `question_room`, `unwritten_room`.
"""
