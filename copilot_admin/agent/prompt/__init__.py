"""Prompt of a model: instructions, Data messages and the conversation, within limits."""
