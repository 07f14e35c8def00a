"""The import page: files are sent, what they would do is shown, then it is done."""

from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.import_export.formats import write_yaml
from copilot_admin.models import Copilot, PendingImport, Provider
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
PAGE = "/admin/copilot_admin/copilot/import/"


def send(client: Client, *texts: str | bytes, follow: bool = True) -> Any:
    files = [
        SimpleUploadedFile(f"file-{number}.yaml", text.encode() if isinstance(text, str) else text)
        for number, text in enumerate(texts, 1)
    ]
    return client.post(PAGE, {"copilot_files": files}, follow=follow)


def entry(**changes: Any) -> dict[str, Any]:
    return {"slug": "news", "name": "News", "provider": "P", "model": "m", **changes}


def text_of(*entries: dict[str, Any], **more: Any) -> str:
    return write_yaml({"format": 1, "copilots": list(entries), **more})


def say_yes(client: Client, shown: Any, **more: str) -> Any:
    address = shown.request["PATH_INFO"]
    return client.post(address, {"digest": shown.context["digest"], **more})


def test_what_a_file_would_do_is_shown_field_by_field_and_done_on_a_yes(builder: Client) -> None:
    make_published(
        slug="news",
        name="News",
        model="m",
        provider=make_provider(name="P"),
        description="Old words",
    )
    shown = send(builder, text_of(entry(description="New words"), entry(slug="b", name="<b>B")))
    page = shown.content.decode()
    assert "copilot news" in page
    assert "<del>Old</del><ins>New</ins> words" in page
    assert 'data-note="immediate"' not in page
    assert "&lt;b&gt;B" in page
    assert "<b>B" not in page
    assert Copilot.objects.get().description == "Old words"
    done = say_yes(builder, shown).content.decode()
    copilot = Copilot.objects.get(slug="news")
    assert copilot.description == "New words"
    assert copilot.live is not None
    assert copilot.live.document["description"] == "Old words"
    assert f'<a href="/admin/copilot_admin/copilot/{copilot.pk}/change/">copilot news</a>' in done
    history = builder.get(f"/admin/copilot_admin/copilot/{copilot.pk}/history/").content.decode()
    assert "Changed by an import." in history
    again = say_yes(builder, shown).content.decode()
    assert "ca-note--warn" in again


def test_publishing_is_a_choice_of_its_own(builder: Client) -> None:
    make_provider(name="P")
    shown = send(builder, text_of(entry(model="demo")))
    shown = builder.get(shown.request["PATH_INFO"], {"publish": "1"})
    assert "Version 1 published" in shown.content.decode()
    assert not Copilot.objects.exists()
    say_yes(builder, shown, publish="1")
    copilot = Copilot.objects.get()
    assert copilot.live is not None
    assert copilot.live.published_by_id is not None


def test_what_the_file_does_not_say_is_named_before_it_goes_back_to_its_default(
    builder: Client,
) -> None:
    provider = make_provider(name="P")
    make_copilot(slug="news", name="News", model="m", provider=provider, logging="metadata")
    page = send(builder, text_of(entry(access="open"))).content.decode()
    assert 'data-note="defaults"' in page
    assert ": Logging." in page
    page = send(builder, text_of(entry(access="open", logging="everything"))).content.decode()
    assert 'data-note="defaults"' not in page


def test_faults_are_told_in_words_and_nothing_is_kept(builder: Client) -> None:
    page = send(
        builder, "format: 2\n", "format: 1\ncopilots: [{modell: <b>x</b>}]\n"
    ).content.decode()
    assert "file-2.yaml: copilots[0].slug" in page
    assert "data-faults=" in page
    assert "<b>x" not in page
    assert not PendingImport.objects.exists()


def test_a_change_between_looking_and_saying_yes_is_noticed(builder: Client) -> None:
    copilot = make_copilot(slug="news", name="News", model="m", provider=make_provider(name="P"))
    shown = send(builder, text_of(entry(description="Mine")))
    Copilot.objects.filter(pk=copilot.pk).update(description="Theirs")
    response = say_yes(builder, shown)
    page = response.content.decode()
    assert "<del>Theirs</del>" in page
    assert Copilot.objects.get().description == "Theirs"
    say_yes(builder, response)
    assert Copilot.objects.get().description == "Mine"


def test_a_builder_sends_keys_to_no_other_address(builder: Client) -> None:
    make_provider(name="P", kind="demo", api_key_env="COPILOT_KEY_A")
    moved = {"name": "P", "kind": "openai_compatible", "base_url": "https://evil.example"}
    shown = send(builder, text_of(entry(), providers=[moved]))
    assert "providers[0]" in shown.content.decode()
    builder.post(shown.request["PATH_INFO"], {"digest": ""})
    assert Provider.objects.get().base_url == ""
    assert not Copilot.objects.exists()


def test_an_administrator_imports_providers_and_reads_which_keys_are_missing(
    client: Client,
) -> None:
    client.force_login(make_user(is_superuser=True))
    provider = {"name": "P", "kind": "demo", "api_key_env": "COPILOT_KEY_NOT_SET"}
    shown = send(client, text_of(entry(), providers=[provider]))
    assert "provider P" in shown.content.decode()
    assert "COPILOT_KEY_NOT_SET, which is not set" in say_yes(client, shown).content.decode()


def test_files_are_for_who_sent_them_and_go_after_a_day(builder: Client) -> None:
    make_provider(name="P")
    shown = send(builder, text_of(entry()))
    address = shown.request["PATH_INFO"]
    other = Client()
    other.force_login(make_user(Role.BUILDERS))
    assert "ca-note--warn" in other.get(address).content.decode()
    PendingImport.objects.update(sent_at=PendingImport.objects.get().sent_at - timedelta(days=2))
    send(other, text_of(entry(slug="b", name="B")))
    send(other, text_of(entry(slug="c", name="C")))
    [left] = PendingImport.objects.all()
    assert left.files[0]["values"]["copilots"][0]["slug"] == "c"
