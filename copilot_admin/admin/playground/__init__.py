"""The chat beside the form of a copilot: tests the draft as typed, saved or not."""
