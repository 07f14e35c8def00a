"""The admin: Django finds its pages by importing this package."""

from copilot_admin.admin import component_calls, copilots, keys, people, providers, transcripts

__all__ = ["component_calls", "copilots", "keys", "people", "providers", "transcripts"]
