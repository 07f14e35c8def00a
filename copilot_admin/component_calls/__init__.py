"""Components called over HTTP: who may call what, with which files, and what is kept of it.

In come a caller, a name and arguments; out come outputs, and a record of the call. Doors: `access`,
`call`, `files`.
"""
