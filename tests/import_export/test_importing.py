"""A copilot file goes into the database whole or not at all, and comes out as it went in."""

import base64
from io import BytesIO
from typing import Any

from PIL import Image
import pytest

from copilot_admin.copilots.providers import set_api_key
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.changes import Difference, Effect, ImportedChange
from copilot_admin.import_export.errors import BadCopilotFile
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.formats import as_json, write_yaml
from copilot_admin.import_export.importing import ImportOptions, import_file, import_files
from copilot_admin.import_export.schema import validate
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.models import Access, Copilot, CopilotVersion, Logging, Provider
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db

LOCAL = {
    "name": "local",
    "kind": "openai_compatible",
    "base_url": "http://127.0.0.1:9100/v1",
    "api_key_env": "COPILOT_KEY_LOCAL",
    "timeout_s": {"connect": 5, "total": 600},
}


def _import(file: Any, **options: Any) -> tuple[ImportedChange, ...]:
    return import_file(write_yaml(file).encode(), default_access="key", **options)


def _one(**changes: Any) -> dict[str, Any]:
    """A file with one small copilot on the demo model."""
    entry = {"slug": "a", "name": "A", "provider": "R", "model": "demo", **changes}
    return {
        "format": 1,
        "providers": [{"name": "R", "kind": "demo"}],
        "copilots": [entry],
    }


def _picture(colour: str) -> str:
    out = BytesIO()
    Image.new("RGB", (8, 8), colour).save(out, format="PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


@pytest.mark.database
def test_a_file_comes_out_as_it_went_in():
    file = _one(provider="local")
    _import({**file, "providers": [*file["providers"], LOCAL]})
    exported = export_file()
    assert exported["providers"] == [LOCAL]  # of the copilots that are exported

    first = write_yaml(exported)
    [*_, change] = import_file(as_json(exported).encode(), default_access="key")
    assert change.effect is Effect.UNCHANGED
    assert write_yaml(export_file()) == first


def test_import_touches_drafts_only_unless_told_to_publish():
    _import(_one())
    assert Copilot.objects.get().live is None

    assert _import(_one(), publishing=True)[-1].published == 1
    assert _import(_one(), publishing=True)[-1].published is None
    assert CopilotVersion.objects.count() == 1


def test_a_file_that_does_not_say_who_may_ask_opens_nothing_that_needs_a_key():
    def imported(file: Any) -> ImportedChange:
        return import_file(write_yaml(file).encode(), default_access=Access.OPEN)[-1]

    _import(_one(access="key"))
    assert imported(_one()).effect is Effect.UNCHANGED
    assert Copilot.objects.get().access == Access.KEY
    assert imported(_one(access="open")).differences == (
        Difference(key="access", before="key", after="open"),
    )
    imported(_one(slug="b", name="B"))
    assert Copilot.objects.get(slug="b").access == Access.OPEN


def test_the_differences_are_told():
    _import(_one())
    changes = _import(_one(description="new", enabled=False))
    assert changes == (
        ImportedChange(name="provider R", effect=Effect.UNCHANGED),
        ImportedChange(
            name="copilot a",
            effect=Effect.CHANGED,
            differences=(Difference("description", "", "new"), Difference("enabled", True, False)),
        ),
    )


def test_what_goes_back_to_its_default_because_the_file_does_not_say_it_is_told():
    _import(
        _one(description="old", enabled=False, logging="metadata", limits={"requests_per_day": 5})
    )
    changes = _import(_one(description="new"), dry_run=True)
    told = [(one.key, one.after, one.is_said) for one in changes[1].differences]
    assert told == [
        ("description", "new", True),
        ("enabled", True, False),
        ("logging", "everything", False),
        ("limits", {}, False),
    ]
    made = _import(_one(slug="b", name="B"))
    assert all(one.is_said for change in made for one in change.differences)


def test_a_dry_run_tells_and_changes_nothing(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    changes = _import(_one(image=_picture("red")), dry_run=True, publishing=True)

    assert [change.effect for change in changes] == [Effect.CREATED, Effect.CREATED]
    assert changes[1].published == 1
    assert (Copilot.objects.count(), Provider.objects.count()) == (0, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.database
def test_a_bad_entry_changes_nothing_at_all():
    file = _one()
    file["copilots"].append({**file["copilots"][0], "slug": "b", "name": "B", "provider": "nobody"})
    with pytest.raises(BadCopilotFile, match=r"^copilots\[1\]\.provider: "):
        _import(file)
    assert (Copilot.objects.count(), Provider.objects.count()) == (0, 0)


def test_what_cannot_be_published_changes_nothing_and_is_told_by_path():
    with pytest.raises(BadCopilotFile, match=r"^copilots\[0\]\.system_prompt: "):
        _import(_one(system_prompt="{{ weather }}"), publishing=True)
    assert Copilot.objects.count() == 0


@pytest.mark.database
def test_a_name_that_another_copilot_has_is_refused_whatever_its_case():
    make_copilot(slug="other", name="a")
    with pytest.raises(BadCopilotFile, match=r"copilots\[0\]\.name: the copilot 'other' has this"):
        _import(_one())


def test_a_provider_keeps_its_stored_key_unless_it_moves():
    provider = make_provider(
        name="local", kind="openai_compatible", base_url="http://127.0.0.1:9100"
    )
    set_api_key(provider, "sk-0123456789abcdef")

    _import({"format": 1, "providers": [LOCAL]})
    provider.refresh_from_db()
    assert provider.api_key_hint == "cdef"

    moved = {**LOCAL, "base_url": "http://127.0.0.2/v1"}
    _import({"format": 1, "providers": [moved]})
    provider.refresh_from_db()
    assert (provider.api_key_cipher, provider.api_key_hint) == ("", "")


def test_an_image_is_kept_as_a_file_and_exported_as_data(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    _import(_one(image=_picture("red")), publishing=True)
    name = Copilot.objects.get().image.name

    exported = export_file()["copilots"][0]["image"]
    assert exported.startswith("data:image/png;base64,")
    changes = _import(_one(image=exported), publishing=True)
    assert (changes[1].effect, changes[1].published) == (Effect.UNCHANGED, None)

    _import(_one(image=_picture("blue")))
    assert Copilot.objects.get().image.name != name
    assert export_file(live=True)["copilots"][0]["image"] == exported


def test_export_writes_the_draft_or_what_is_live():
    copilot = make_published(slug="a", description="live")
    copilot.description = "draft"
    copilot.save()
    make_copilot(slug="b")

    assert [row["description"] for row in export_file()["copilots"]] == ["draft", ""]
    assert [row["description"] for row in export_file(live=True)["copilots"]] == ["live"]
    assert [row["slug"] for row in export_file(["b", "a", "b"])["copilots"]] == ["b", "a"]


def test_export_names_what_it_cannot_find():
    make_copilot(slug="b")
    with pytest.raises(ConfigurationError, match="no copilot with the slug 'c'"):
        export_file(["b", "c"])
    with pytest.raises(ConfigurationError, match="'b' was never published"):
        export_file(["b"], live=True)


def test_a_copilot_that_is_being_deleted_is_not_imported():
    copilot = make_copilot(slug="news")
    file = export_file()
    mark_for_deletion([copilot.pk])
    with pytest.raises(BadCopilotFile, match="the copilot 'news' is being deleted"):
        import_file(as_json(file).encode(), default_access="key")


def test_a_builders_file_leaves_limits_as_operators_have_set_them():
    _import(_one(limits={"concurrent": 2}))
    options = ImportOptions(default_access="key", user=make_user())
    import_files([("", validate(_one(description="new")))], options)
    row = Copilot.objects.get()
    assert (row.description, row.limits) == ("new", {"concurrent": 2})
    _import(_one(description="new"))
    assert Copilot.objects.get().limits == {}


def _by_a_builder(**changes: Any) -> None:
    options = ImportOptions(default_access="open", user=make_user())
    import_files([("", validate(_one(**changes)))], options)


def test_a_builders_file_leaves_what_is_stored_for_how_long_as_it_is_set():
    kept = {"retention_days": 30, "redaction": ["phone"], "redacted_expressions": ["A-[0-9]+"]}
    _import(_one(**kept))
    for changes in ({}, {"retention_days": 1, "redaction": [], "redacted_expressions": ["x"]}):
        _by_a_builder(description="new", **changes)
        row = Copilot.objects.get()
        assert row.description == "new"
        assert {name: getattr(row, name) for name in kept} == kept
    _by_a_builder(slug="b", name="B", **kept)  # of which nobody has set anything
    row = Copilot.objects.get(slug="b")
    assert {name: getattr(row, name) for name in kept} == kept
    _import(_one())
    row = Copilot.objects.exclude(slug="b").get()
    assert (row.retention_days, row.redaction, row.redacted_expressions) == (None, [], [])


def test_who_may_not_publish_changes_nothing_of_what_is_kept_of_a_live_copilot():
    _import(_one(logging="metadata"))
    _by_a_builder(logging="nothing")
    assert Copilot.objects.get().logging == Logging.NOTHING  # it is not live yet
    _import(_one(logging="metadata"), publishing=True)
    _by_a_builder(logging="nothing", description="new")
    row = Copilot.objects.get()
    assert (row.logging, row.description) == (Logging.METADATA, "new")


def test_who_may_not_publish_opens_nothing_that_is_live_to_everybody():
    _import(_one(access="key"), publishing=True)
    with pytest.raises(BadCopilotFile, match=r"copilots\[0\]\.access: "):
        _by_a_builder(access="open")
    _by_a_builder(description="new")  # what is not said opens nothing
    assert Copilot.objects.get().access == Access.KEY
    _import(_one(access="open"))
    _by_a_builder(access="open")
    _by_a_builder(access="key")
    Copilot.objects.update(live=None)
    _by_a_builder(access="open")
    assert Copilot.objects.get().access == Access.OPEN
