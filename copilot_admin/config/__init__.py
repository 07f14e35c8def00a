"""What the environment says: variables, secrets, hosts, logs, roles and the key ring.

In come environment variables and files of secrets; out go values that are checked, or one line that
says which variable is wrong. `settings` reads them once, with `env`, `secrets`, `origins`, `logs` and
`databases`, and names `passwords`. Doors besides: `encryption`, `roles`.
"""
