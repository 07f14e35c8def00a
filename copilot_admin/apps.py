"""The one Django app."""

from django.apps import AppConfig


class CopilotAdminConfig(AppConfig):
    """Copilots, their keys and their transcripts."""

    name = "copilot_admin"
    verbose_name = "Copilot Admin"
    default_auto_field = "django.db.models.BigAutoField"
