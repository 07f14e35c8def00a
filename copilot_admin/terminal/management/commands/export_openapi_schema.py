"""`manage.py export_openapi_schema`: as django-ninja's, of our API unless another one is named."""

from argparse import ArgumentParser

from ninja.management.commands import export_openapi_schema

OURS = "copilot_admin.api.app.api"


class Command(export_openapi_schema.Command):
    """Writes the OpenAPI document that `/docs` shows."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares those of django-ninja, which looks below `/api/` for an API that is not named."""
        super().add_arguments(parser)  # type: ignore[arg-type]
        parser.set_defaults(api=OURS)
