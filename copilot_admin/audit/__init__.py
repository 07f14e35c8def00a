"""The audit trail: who changed, published, read, exported or erased what, in a chain that shows gaps.

Whoever changes something calls `record` as the last statement of the transaction of the change: it
holds the head of the chain until the commit. In comes an actor, a subject and values before and
after; out goes an entry with the changed fields, secrets as "set" or "changed".

Doors: `recording`, `reads`, `actor`, `subject`, `snapshot`, `chain`, `keys`, `verifying`, `lines`, `following`,
`forwarding`, `anchors` and `unreadable`.
"""
