"""What the environment says: variables, secrets, hosts, logs, roles and the key ring.

In come environment variables and files of secrets; out go values that are checked, or one line that
says which variable is wrong. Doors: `formats`, `encryption`, `roles`, `role_groups`, `passwords`, `bounded_connection`, `statement_limits`, `issuers`; for `settings`, which reads
the variables once, `env`, `secrets`, `origins`, `logs`, `databases`, `limits`, `live_pages`, `redis_address`, `cached_json`, `forgiving_cache`, `redis_faults` (for `limits` and `answering` too),
`redaction_rules`, `figure_readers` (for `edge` too), `collector` (for `telemetry` too), `audit_log` (for `audit` too), `asking_users` with `key_sets` (for
`copilots` and `edge` too), `mail` (for `alerts` too), `firm_log_in` and `networks` (for `people`, `edge`, `copilots` and `admin` too).
"""
