"""`manage.py copilots`: export and import copilots, or create them from templates."""

from argparse import ArgumentParser
from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from copilot_admin.audit.recording import Actor, snapshot
from copilot_admin.copilots.providers import unset_keys
from copilot_admin.import_export.changes import ImportedChange, record_import
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.formats import MAX_BYTES, MAX_CHARACTERS, as_json, write_yaml
from copilot_admin.import_export.importing import import_file, usual_access
from copilot_admin.import_export.templates import make_copilot, template_named, templates
from copilot_admin.management.base import SanitizedCommand, get_provider, read_file, replace_file
from copilot_admin.models import Action

MAX_VALUE_LENGTH = 200  # characters of a value in a diff


class Command(SanitizedCommand):
    help = "Export and import copilots, or create one from a template."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        export = actions.add_parser("export", help="write a copilot file without secrets")
        export.add_argument("slugs", metavar="SLUG", nargs="*", help="default: all not archived")
        export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
        export.add_argument("--live", action="store_true", help="the live version, not the draft")
        imports = actions.add_parser("import", help="create or update copilots by slug")
        imports.add_argument("file", type=Path, metavar="FILE", help="- for standard input")
        imports.add_argument("--publish", action="store_true", help="also publish them")
        imports.add_argument("--dry-run", action="store_true", help="only show the changes")
        listed = actions.add_parser("templates", help="list the built-in templates")
        new = actions.add_parser("new", help="create a copilot from a template")
        new.add_argument("template", metavar="TEMPLATE", help="name in `copilots templates`")
        new.add_argument("--slug", required=True, metavar="SLUG", help="of the new copilot")
        new.add_argument(
            "--provider",
            metavar="NAME",
            help="default: the newest with a known chat model, else the demo model",
        )
        new.add_argument(
            "--model", default="", metavar="ID", help="default: the one last used, or a chat model"
        )
        new.add_argument("--switched-model", default="", metavar="ID", help="while a control is on")
        new.add_argument("--switched-provider", default="", metavar="NAME", help="of that model")
        new.add_argument("--other-model", dest="other_models", action="append", metavar="ID")
        new.add_argument("--publish", action="store_true", help="also publish it")
        export.set_defaults(run=self._export)
        imports.set_defaults(run=self._import)
        listed.set_defaults(run=self._list_templates)
        new.set_defaults(run=self._new)

    def _list_templates(self, **_: Any) -> None:
        width = max(map(len, templates()))
        for template in templates().values():
            self.stdout.write(f"{template.slug:{width}}  {template.summary}")

    def _new(self, *, template: str, provider: str | None, publish: bool, **options: Any) -> None:
        chosen = template_named(template)
        other_models = options["other_models"]
        if options["switched_model"] and not chosen.switched_model:
            raise CommandError(f"No control of the template '{template}' lets a model answer.")
        if other_models and not chosen.model_picker:
            raise CommandError(f"The template '{template}' has no model picker.")
        with transaction.atomic():
            copilot = make_copilot(
                chosen,
                slug=options["slug"],
                access=usual_access(),
                provider=get_provider(provider) if provider else None,
                model=options["model"],
                switched_model=options["switched_model"],
                switched_provider=options["switched_provider"],
                other_models=other_models or (),
                publishing=publish,
            )
            facts = {**snapshot(copilot), "template": template, "published": publish}
            self.record(Action.ADDED, copilot, facts)
        self.stdout.write(
            f"{copilot.name} ({copilot.slug}): {'published' if publish else 'a draft'}"
        )

    def _export(self, *, slugs: list[str], out: Path | None, live: bool, **_: Any) -> None:
        file = export_file(slugs, live=live)
        facts = {"copilots": slugs or "all", "live": live, "to": "a file" if out else "output"}
        self.record(Action.EXPORTED, "copilot", facts)
        as_yaml = out is None or out.suffix != ".json"
        text = write_yaml(file) if as_yaml else as_json(file)
        if as_yaml and len(text) > MAX_CHARACTERS:
            text = "Write JSON with --out copilots.json, or export fewer copilots."
            self.stderr.write(f"This YAML is too large to import. {text}")
        if out is None:
            self.stdout.write_document(text)
        else:
            try:
                replace_file(out, text)
            except OSError as error:
                raise CommandError(f"Can't write {out}: {error.strerror}.") from error

    def _import(self, *, file: Path, publish: bool, dry_run: bool, **_: Any) -> None:
        data = read_file(file, max_bytes=MAX_BYTES)
        with transaction.atomic():
            changes = import_file(
                data, default_access=usual_access(), publishing=publish, dry_run=dry_run
            )
            if not dry_run:
                record_import(changes, by=Actor.command())
        for change in changes:
            self.stdout.write("\n".join(_describe_change(change)))
        if dry_run:
            self.stdout.write("Nothing was changed (--dry-run).")
            return
        for sentence in unset_keys():
            self.stderr.write(sentence)


def _describe_change(change: ImportedChange) -> Iterator[str]:
    published = f", published as version {change.published}" if change.published else ""
    yield f"{change.name}: {change.effect}{published}"
    for difference in change.differences:
        line = f"  {difference.key}: {_format_value(difference.before)} -> {_format_value(difference.after)}"
        yield line if difference.is_said else f"{line} (not in the file: its default)"


def _format_value(value: Any) -> str:
    text = "(none)" if value is None else dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"
