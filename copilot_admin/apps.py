"""The one Django app."""

import os
import sys

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CopilotAdminConfig(AppConfig):
    """Copilots, their keys and their transcripts."""

    name = "copilot_admin"
    verbose_name = "Copilot Admin"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Registers the system checks, and has the roles made after every migration."""
        from copilot_admin.config.roles import create_roles  # needs the models of `auth`
        from copilot_admin.copilots import checks  # noqa: F401  # needs the models
        from copilot_admin.server.sole_server import be_sole_development_server

        post_migrate.connect(create_roles, sender=self)
        be_sole_development_server(sys.argv, os.environ)
