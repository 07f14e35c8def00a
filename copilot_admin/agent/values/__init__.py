"""The values that the whole engine speaks in: copilot, question, model call, turn.

All its modules are doors.
"""
