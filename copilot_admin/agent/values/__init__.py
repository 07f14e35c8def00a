"""Shared values of the agent: copilot, request, model call, turn, traces."""
