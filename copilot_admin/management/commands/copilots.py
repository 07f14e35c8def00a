"""`manage.py copilots`: copilot files, out of the database and into it."""

from argparse import ArgumentParser
from collections.abc import Iterator
import json
from pathlib import Path
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from copilot_admin.copilot_file.exporting import export_file
from copilot_admin.copilot_file.importing import Change, import_file
from copilot_admin.copilot_file.loading import as_json
from copilot_admin.copilot_file.yaml_text import write_yaml
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Access

LONGEST_VALUE = 200  # characters of a value in a diff


class Command(BaseCommand):
    """Exports and imports copilots."""

    help = "Exports copilots as a copilot file, or imports one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares `export` and `import`."""
        actions = parser.add_subparsers(dest="action", required=True)
        export = actions.add_parser("export", help="writes a copilot file; never a secret")
        export.add_argument("slugs", metavar="SLUG", nargs="*", help="default: all copilots")
        export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
        export.add_argument("--live", action="store_true", help="what answers now, not the draft")
        imports = actions.add_parser("import", help="creates or updates copilots by slug")
        imports.add_argument("file", type=Path, metavar="FILE", help="- for standard input")
        imports.add_argument("--publish", action="store_true", help="publish them too")
        imports.add_argument("--dry-run", action="store_true", help="tell, and change nothing")

    def handle(self, *, action: str, **options: Any) -> None:
        """Runs one of the two."""
        try:
            if action == "export":
                self._export(options["slugs"], out=options["out"], live=options["live"])
            else:
                self._import(
                    options["file"], publish=options["publish"], dry_run=options["dry_run"]
                )
        except ConfigurationError as error:
            raise CommandError(error.public) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error

    def _export(self, slugs: list[str], *, out: Path | None, live: bool) -> None:
        file = export_file(slugs, live=live)
        text = as_json(file) if out and out.suffix == ".json" else write_yaml(file)
        if out is None:
            self.stdout.write(text, ending="")
        else:
            out.write_text(text, encoding="utf-8")

    def _import(self, path: Path, *, publish: bool, dry_run: bool) -> None:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        changes = import_file(
            data,
            default_access=Access.KEY if settings.PRODUCTION else Access.OPEN,
            publishing=publish,
            dry_run=dry_run,
        )
        for change in changes:
            self.stdout.write("\n".join(_lines(change)))
        if dry_run:
            self.stdout.write("Nothing was changed (--dry-run).")


def _lines(change: Change) -> Iterator[str]:
    published = f", published as version {change.published}" if change.published else ""
    yield f"{change.name}: {change.effect}{published}"
    for difference in change.differences:
        yield f"  {difference.key}: {_shown(difference.before)} -> {_shown(difference.after)}"


def _shown(value: Any) -> str:
    text = "(none)" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
