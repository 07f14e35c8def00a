"""What a request says, part by part; `protocol.requests` puts the parts together.

All its modules are doors.
"""
