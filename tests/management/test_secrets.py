"""Secrets are sealed anew, and it says which keys may go."""

from io import StringIO

from django.apps import apps
from django.core.management import CommandError, call_command
import pytest

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.config.encryption import EncryptionKey, create_key, parse_key
from copilot_admin.copilots.providers import api_key_of, set_api_key
from copilot_admin.copilots.sealed_columns import SEALED_COLUMNS
from copilot_admin.jobs import resealing
from copilot_admin.models import Action, Provider
from tests.factories import make_provider

OLD, NEW = parse_key(create_key()), parse_key(create_key())


def rotate() -> str:
    out = StringIO()
    call_command("secrets", "rotate", stdout=out)
    return out.getvalue()


def sealed_by(key: EncryptionKey) -> int:
    return Provider.objects.filter(api_key_cipher__startswith=f"{key.id}:").count()


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


GOES = (
    f"The key {OLD.id} seals nothing any more. It may leave COPILOT_ENCRYPTION_KEYS when every "
    "server and worker runs with the new first key, and no backup is to be restored that needs it.\n"
)


def test_every_secret_is_sealed_anew_in_batches(old_providers, settings, monkeypatch):
    monkeypatch.setattr(resealing, "BATCH", 2)
    assert rotate() == f"3 sealed anew under the key {NEW.id}.\n{GOES}"
    settings.ENCRYPTION_KEYS = (NEW,)
    keys = [api_key_of(Provider.objects.get(pk=one.pk)) for one in old_providers]
    assert keys == ["sk-0", "sk-1", "sk-2"]
    assert rotate() == f"0 sealed anew under the key {NEW.id}.\nThere is no older key.\n"


def test_a_rotation_that_was_stopped_goes_on(old_providers, monkeypatch):
    monkeypatch.setattr(resealing, "BATCH", 2)
    commit = resealing.transaction.atomic
    batches = []

    def stopped():
        batches.append(1)
        if len(batches) == 2:
            raise KeyboardInterrupt
        return commit()

    monkeypatch.setattr(resealing.transaction, "atomic", stopped)
    with pytest.raises(KeyboardInterrupt):
        rotate()
    assert (sealed_by(NEW), sealed_by(OLD)) == (2, 1)
    monkeypatch.setattr(resealing.transaction, "atomic", commit)
    assert rotate().startswith("1 sealed anew")
    assert (sealed_by(NEW), sealed_by(OLD)) == (3, 0)


def test_a_secret_that_somebody_enters_meanwhile_stays(old_providers, monkeypatch):
    first = old_providers[0]
    original = resealing.encrypt

    def slow(text, *, location):
        monkeypatch.setattr(resealing, "encrypt", original)
        set_api_key(first, "sk-new")
        return original(text, location=location)

    monkeypatch.setattr(resealing, "encrypt", slow)
    assert rotate().startswith("2 sealed anew")
    assert api_key_of(Provider.objects.get(pk=first.pk)) == "sk-new"


def test_a_provider_that_a_server_has_read_before_opens_during_and_after(
    old_providers, monkeypatch
):
    """Questions go on with rows of before, with those of now, and in the middle."""
    monkeypatch.setattr(resealing, "BATCH", 1)
    read_before = list(Provider.objects.order_by("pk")[:3])
    met: list[list[str]] = []

    def reseal(*arguments: object) -> None:
        _reseal(*arguments)  # type: ignore[arg-type]  # as they came
        now = Provider.objects.order_by("pk")[:3]
        met.append([api_key_of(one) for one in (*read_before, *now)])

    _reseal = resealing._reseal
    monkeypatch.setattr(resealing, "_reseal", reseal)
    rotate()
    assert met == [["sk-0", "sk-1", "sk-2"] * 2] * 3


def test_what_does_not_open_is_named_and_its_key_stays(old_providers):
    broken = old_providers[1]
    Provider.objects.filter(pk=broken.pk).update(api_key_cipher=f"{OLD.id}:AAAA")
    out = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("secrets", "rotate", stdout=out)
    assert str(refused.value) == (
        f"key of a provider (Provider {broken.pk}): A stored secret can't be decrypted: it was changed, "
        "or belongs to another row. Enter it again.\nEnter these anew, or add the key again."
    )
    assert out.getvalue() == (
        f"2 sealed anew under the key {NEW.id}.\nThe key {OLD.id} still seals 1: keep it.\n"
    )


def test_it_says_when_old_signing_keys_may_go(db, settings):
    settings.SECRET_KEY_FALLBACKS = ["x"]
    settings.ENCRYPTION_KEYS = (NEW,)
    assert rotate().splitlines()[2] == (
        "What SECRET_KEY_FALLBACKS signed runs out within 14 days (log-ins; all else within a day): "
        "it may be emptied 14 days after every server runs with the new SECRET_KEY."
    )


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
    assert ("Before it goes, set COPILOT_AUDIT_KEYS" in rotate()) is warned


def test_every_column_of_sealed_texts_is_in_the_list():
    found = {
        (model.__name__, field.name)
        for model in apps.get_app_config("copilot_admin").get_models()
        for field in model._meta.get_fields()
        if field.name.endswith(("_cipher", "_sealed"))
    }
    assert found == {(one.model, one.column) for one in SEALED_COLUMNS}
