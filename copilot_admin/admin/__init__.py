"""The admin: Django finds its pages by importing this package."""

from copilot_admin.admin.access import keys, people
from copilot_admin.admin.copilots import admin as copilots
from copilot_admin.admin.providers import admin as providers
from copilot_admin.admin.transcripts import admin as transcripts
from copilot_admin.admin.transcripts import component_calls

__all__ = ["component_calls", "copilots", "keys", "people", "providers", "transcripts"]
