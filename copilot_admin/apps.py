"""The one Django app."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CopilotAdminConfig(AppConfig):
    """Copilots, their keys and their transcripts."""

    name = "copilot_admin"
    verbose_name = "Copilot Admin"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Registers the system checks, and has the roles made after every migration."""
        from copilot_admin import checks  # noqa: F401  # needs the models
        from copilot_admin.roles import create_roles  # needs the models of `auth`

        post_migrate.connect(create_roles, sender=self)
