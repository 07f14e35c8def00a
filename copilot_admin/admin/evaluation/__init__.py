"""Test tab of a copilot: test cases, evaluation runs and their results."""
