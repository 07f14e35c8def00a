"""Values that the whole agent shares: copilot, request, model call, turn, traces."""
