"""`manage.py copilots`: copilot files, out of the database and into it."""

from argparse import ArgumentParser
from collections.abc import Iterator
import json
from pathlib import Path
import sys
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from copilot_admin.audit.changes import snapshot
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.copilots.providers import unset_keys
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.question_check import check_questions, line_of, told
from copilot_admin.evaluation.question_queue import outcome_of
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.import_changes import ImportedChange
from copilot_admin.import_export.import_trail import record_import
from copilot_admin.import_export.importing import import_file, usual_access
from copilot_admin.import_export.loading import MOST_BYTES, as_json
from copilot_admin.import_export.templates import Switched, make_copilot, template_named, templates
from copilot_admin.import_export.yaml_writing import is_readable_as_yaml, write_yaml
from copilot_admin.management.base import SanitizedCommand, replace_file
from copilot_admin.models import Action, Copilot, Judgement, Provider, Side

# The options of `new`.
NEW = (
    "template",
    "slug",
    "provider",
    "model",
    "switched_model",
    "switched_provider",
    "other_models",
    "publish",
)
SWITCHED = "what answers while a control of the template is on, such as a model with web search"
OTHER = "that users may choose too, where the template has a model picker; may be repeated"
NOT_RUN = 2  # the exit of `check` where questions could not be asked or judged
EXITS = {Judgement.AS_EXPECTED: 0, Judgement.NOT_AS_EXPECTED: 1, Judgement.UNDECIDED: NOT_RUN}
TOO_MUCH_YAML = "This is more YAML than an import reads. Write JSON with --out copilots.json, or fewer copilots."
LONGEST_VALUE = 200  # characters of a value in a diff


class Command(SanitizedCommand):
    """Export and imports copilots, makes them of templates, and checks their answers."""

    help = "Exports, imports and checks copilots, or makes one of a template."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare `export`, `import`, `templates`, `new` and `check`."""
        actions = parser.add_subparsers(dest="action", required=True)
        export = actions.add_parser("export", help="writes a copilot file; never a secret")
        export.add_argument("slugs", metavar="SLUG", nargs="*", help="default: all but the archive")
        export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
        export.add_argument("--live", action="store_true", help="what answers now, not the draft")
        imports = actions.add_parser("import", help="creates or updates copilots by slug")
        imports.add_argument("file", type=Path, metavar="FILE", help="- for standard input")
        imports.add_argument("--publish", action="store_true", help="publish them too")
        imports.add_argument("--dry-run", action="store_true", help="tell, and change nothing")
        actions.add_parser("templates", help="lists the built-in templates")
        new = actions.add_parser("new", help="makes a copilot of a template")
        new.add_argument("template", metavar="TEMPLATE", help="as `copilots templates` lists it")
        new.add_argument("--slug", required=True, metavar="SLUG", help="of the new copilot")
        new.add_argument("--provider", metavar="NAME", help="default: the only one, or Rehearsal")
        new.add_argument("--model", default="", metavar="ID", help="needed unless it rehearses")
        new.add_argument("--switched-model", default="", metavar="ID", help=SWITCHED)
        new.add_argument("--switched-provider", default="", metavar="NAME", help="of that model")
        new.add_argument(
            "--other-model", dest="other_models", action="append", metavar="ID", help=OTHER
        )
        new.add_argument("--publish", action="store_true", help="publish it too")
        check = actions.add_parser("check", help="asks the saved questions of a copilot")
        # Another name than `new` has for its own: `call_command` would not know which is meant.
        check.add_argument("copilot", metavar="SLUG", help="of the copilot")
        check.add_argument("--live", action="store_true", help="what answers now, not the draft")
        check.add_argument("--json", action="store_true", help="say all of it as JSON")

    def handle(self, *, action: str, **options: Any) -> None:
        """Run the subcommand that was given."""
        try:
            match action:
                case "export":
                    self._export(options["slugs"], out=options["out"], live=options["live"])
                case "import":
                    self._import(
                        options["file"], publish=options["publish"], dry_run=options["dry_run"]
                    )
                case "check":
                    self._check(options["copilot"], live=options["live"], as_json=options["json"])
                case "templates":
                    self.stdout.write("\n".join(_listed()))
                case _:
                    self._new(**{key: options[key] for key in NEW})
        except ConfigurationError as error:
            status = NOT_RUN if action == "check" else 1
            raise CommandError(error.public, returncode=status) from error

    def _check(self, slug: str, *, live: bool, as_json: bool) -> None:
        """Ends the process with what the answers come to."""
        copilot = Copilot.objects.select_related("provider").filter(slug=slug).first()
        if copilot is None:
            raise CommandError(f"There is no copilot with the slug '{slug}'.", returncode=NOT_RUN)
        side = Side.LIVE if live else Side.DRAFT
        facts = {"work": "saved questions"}
        record(Action.STARTED, by=Actor.command(), on=Subject.of(copilot), after=facts)
        results = check_questions(copilot, side)
        outcome = outcome_of([one.verdict.judgement for _, one in results])
        if as_json:
            self.stdout.write(json.dumps(told(copilot, side, results, outcome), indent=2))
        elif not results:
            self.stderr.write(f"Copilot '{slug}' has no saved questions. Save some to check it.")
        else:
            self.stdout.write("\n".join(map(line_of, results)))
        sys.exit(EXITS[outcome])

    def _new(
        self,
        *,
        template: str,
        slug: str,
        provider: str | None,
        model: str,
        switched_model: str,
        switched_provider: str,
        other_models: list[str] | None,
        publish: bool,
    ) -> None:
        row = Provider.objects.filter(name=provider).first() if provider else None
        if provider and row is None:
            raise CommandError(f"There is no provider '{provider}'. Add it in the admin first.")
        chosen = template_named(template)
        if switched_model and not chosen.switched_model:
            raise CommandError(f"No control of the template '{template}' lets a model answer.")
        if other_models and not chosen.model_picker:
            raise CommandError(f"The template '{template}' has no model picker.")
        with transaction.atomic():
            copilot = make_copilot(
                chosen,
                slug=slug,
                access=usual_access(),
                provider=row,
                model=model,
                switched=Switched(switched_model, switched_provider) if switched_model else None,
                other_models=other_models or (),
                publishing=publish,
            )
            facts = {**snapshot(copilot), "template": template, "published": publish}
            record(Action.ADDED, by=Actor.command(), on=Subject.of(copilot), after=facts)
        state = "published" if publish else "a draft"
        self.stdout.write(f"{copilot.name} ({copilot.slug}): {state}")

    def _export(self, slugs: list[str], *, out: Path | None, live: bool) -> None:
        file = export_file(slugs, live=live)
        facts = {"copilots": slugs or "all", "live": live, "to": "a file" if out else "output"}
        record(Action.EXPORTED, by=Actor.command(), on=Subject("copilot"), after=facts)
        as_yaml = out is None or out.suffix != ".json"
        if as_yaml and not is_readable_as_yaml(file):
            self.stderr.write(TOO_MUCH_YAML)
        text = write_yaml(file) if as_yaml else as_json(file)
        if out is None:
            self.stdout.write_document(text)
        else:
            try:
                replace_file(out, text)
            except OSError as error:
                raise CommandError(f"cannot write {out}: {error.strerror}") from error

    def _import(self, path: Path, *, publish: bool, dry_run: bool) -> None:
        data = _bytes_of(path)
        with transaction.atomic():
            changes = import_file(
                data,
                default_access=usual_access(),
                publishing=publish,
                dry_run=dry_run,
            )
            if not dry_run:
                record_import(changes, by=Actor.command())
        for change in changes:
            self.stdout.write("\n".join(_lines(change)))
        if dry_run:
            self.stdout.write("Nothing was changed (--dry-run).")
            return
        for sentence in unset_keys():
            self.stderr.write(sentence)


def _bytes_of(path: Path) -> bytes:
    """The file, or as much of it as shows that it is too large: a device may have no end.

    Raises:
        CommandError: It cannot be read.
    """
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with path.open("rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from error


def _listed() -> Iterator[str]:
    width = max(map(len, templates()))
    for template in templates().values():
        yield f"{template.slug:{width}}  {template.summary}"


def _lines(change: ImportedChange) -> Iterator[str]:
    published = f", published as version {change.published}" if change.published else ""
    yield f"{change.name}: {change.effect}{published}"
    for difference in change.differences:
        line = f"  {difference.key}: {_shown(difference.before)} -> {_shown(difference.after)}"
        yield line if difference.is_said else f"{line} (not in the file: its default)"


def _shown(value: Any) -> str:
    text = "(none)" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
