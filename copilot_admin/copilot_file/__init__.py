"""The copilot file: copilots and providers as text that people keep, compare and hand on."""
