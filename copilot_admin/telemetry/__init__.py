"""What a server tells of itself to those who watch it: a log line and a trace a run, and figures.

In come runs that have ended and facts of the engine; out go lines, spans and counts. Nothing in here
ever touches an answer (ADR 12). Doors: `run_watch`, `ended_run`, `refusals`,
`refused_requests`, `quiet_lines`, `metrics`, `gauges`, `tracing`.
"""
