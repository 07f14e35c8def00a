"""The values that the whole engine speaks in: copilot, question, model call, turn."""
