"""The Django app: registers system checks and signal receivers."""

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate, post_save, pre_migrate
from django.urls import register_converter
from django.urls.converters import IntConverter


class IdConverter(IntConverter):
    """`<id:name>`: a number that fits into a column; a longer one would break the query."""

    regex = "[0-9]{1,18}"


class CopilotAdminConfig(AppConfig):
    name = "copilot_admin"
    verbose_name = "Copilot Admin"

    def ready(self) -> None:
        from django.contrib.auth.models import User

        from copilot_admin.accounts.sessions import (
            end_sessions_of_disabled_user,
            record_account_change,
        )
        from copilot_admin.config.roles import create_roles
        from copilot_admin.copilots import checks  # noqa: F401  # registers them
        from copilot_admin.models import ModelPrice, Provider
        from copilot_admin.pricing.prices import add_demo_price, clear_price_cache_on_change
        from copilot_admin.storage.schema import reject_partial_upgrade
        from copilot_admin.telemetry.finished_runs import LISTENERS, log_run

        register_converter(IdConverter, "id")
        LISTENERS.append(log_run)
        pre_migrate.connect(reject_partial_upgrade, sender=self)
        post_migrate.connect(create_roles, sender=self)
        post_save.connect(record_account_change, sender=User)
        post_save.connect(end_sessions_of_disabled_user, sender=User)
        post_save.connect(add_demo_price, sender=Provider)
        for model in (ModelPrice, Provider):
            post_save.connect(clear_price_cache_on_change, sender=model)
            post_delete.connect(clear_price_cache_on_change, sender=model)
