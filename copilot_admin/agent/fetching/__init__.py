"""The one way out: which addresses may be reached, and the client that checks each.

Doors: `addresses`, `connecting`, `egress`, `names`, `packing`, `pieces`, `posting`, `sizes`, `tls_faults`.
"""
