"""Key rotation encrypts secrets again, and reports unused keys."""

from io import StringIO

from django.apps import apps
from django.core.management import CommandError, call_command
import pytest

from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.config.encryption import create_key, parse_key
from copilot_admin.copilots.providers import ENCRYPTED_COLUMNS, api_key_of, set_api_key
from copilot_admin.jobs import key_rotation
from copilot_admin.models import Action, Provider
from tests.factories import make_provider

OLD, NEW = parse_key(create_key()), parse_key(create_key())


def rotate() -> str:
    out = StringIO()
    call_command("secrets", "rotate", stdout=out)
    return out.getvalue()


@pytest.fixture
def old_providers(db, settings) -> list[Provider]:
    """Three providers with keys of the time before, and one without."""
    settings.ENCRYPTION_KEYS = (OLD,)
    providers = [make_provider() for _ in range(3)]
    for number, provider in enumerate(providers):
        set_api_key(provider, f"sk-{number}")
    make_provider()
    settings.ENCRYPTION_KEYS = (NEW, OLD)
    return providers


def test_every_secret_is_encrypted_again(old_providers, settings):
    output = rotate()
    assert f"Encrypted 3 secrets with key {NEW.id}." in output
    assert f"Key {OLD.id} is unused." in output
    settings.ENCRYPTION_KEYS = (NEW,)
    keys = [api_key_of(Provider.objects.get(pk=one.pk)) for one in old_providers]
    assert keys == ["sk-0", "sk-1", "sk-2"]
    assert "Encrypted 0 secrets" in rotate()


def test_a_secret_that_is_entered_meanwhile_stays(old_providers, monkeypatch):
    first = old_providers[0]
    original = key_rotation.encrypt

    def encrypt(text, *, location):
        monkeypatch.setattr(key_rotation, "encrypt", original)
        set_api_key(first, "sk-new")
        return original(text, location=location)

    monkeypatch.setattr(key_rotation, "encrypt", encrypt)
    assert "Encrypted 2 secrets" in rotate()
    assert api_key_of(Provider.objects.get(pk=first.pk)) == "sk-new"


def test_a_secret_that_cannot_be_decrypted_is_reported(old_providers):
    broken = old_providers[1]
    Provider.objects.filter(pk=broken.pk).update(api_key_cipher=f"{OLD.id}:AAAA")
    out = StringIO()
    with pytest.raises(CommandError, match=rf"\(Provider {broken.pk}\)"):
        call_command("secrets", "rotate", stdout=out)
    assert f"Keep key {OLD.id}: it still encrypts 1 secrets." in out.getvalue()


@pytest.mark.parametrize(
    ("audit_keys", "warned"), [((), True), (("another",), True), (("another", "old"), False)]
)
def test_a_signing_key_that_the_audit_trail_needs_does_not_go_unnoticed(
    db, settings, audit_keys, warned
):
    settings.SECRET_KEY = "old"
    record(Action.READ, by=Actor.server(), on=Subject("copilot"))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", ["old"]
    settings.AUDIT_KEYS, settings.ENCRYPTION_KEYS = audit_keys, (NEW,)
    assert ("set COPILOT_AUDIT_KEYS" in rotate()) is warned


def test_every_column_of_sealed_texts_is_in_the_list():
    found = {
        (model.__name__, field.name)
        for model in apps.get_app_config("copilot_admin").get_models()
        for field in model._meta.get_fields()
        if field.name.endswith(("_cipher", "_sealed"))
    }
    assert found == {(one.model, one.column) for one in ENCRYPTED_COLUMNS}
