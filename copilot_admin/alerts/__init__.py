"""What tells people that something is wrong: rules, alerts, messages, the digest of a week.

In come rollups and thumbs; out go mails and signed webhooks. A kind of rule is a file in `kinds`; nothing else
needs to know of it. Doors: `kind`, `scope`, `windows`, `addresses`, `messages`, `deliveries`, `webhooks`,
`mail`, `tasks`, `checking`, `digests`, `audience`.
"""
