"""The admin: Django finds its pages by importing this package."""

from copilot_admin.admin import copilots, keys, people, providers, transcripts

__all__ = ["copilots", "keys", "people", "providers", "transcripts"]
