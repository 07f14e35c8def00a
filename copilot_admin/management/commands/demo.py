"""`manage.py demo load|remove`: load or remove the demo conversations."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import CommandError
from django.utils import timezone

from copilot_admin.audit.recording import Actor
from copilot_admin.demo.loading import has_demo_data, load_demo_data, remove_demo_data
from copilot_admin.management.base import SanitizedCommand


class Command(SanitizedCommand):
    help = "Load about 40 demo conversations over the last 30 days, or remove them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=("load", "remove"))

    def handle(self, *, action: str, **options: Any) -> None:
        by = Actor.command()
        if action == "remove":
            remove_demo_data(by=by)
            self.stdout.write("The demo conversations are being removed.")
            return
        if has_demo_data():
            raise CommandError("The demo conversations are already loaded.")
        admin = get_user_model()._default_manager.filter(is_superuser=True).order_by("pk").first()
        if admin is None:
            raise CommandError("Create an administrator first: manage.py createsuperuser")
        number = load_demo_data(admin, by=by, now=timezone.now())
        self.stdout.write(f"Loaded {number} demo conversations.")
