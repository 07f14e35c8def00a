"""Ciphertexts are bound to their location; keys of providers are stored or read from variables."""

from hypothesis import given, strategies
import pytest

from copilot_admin.config.encryption import SecretLocation, create_key, decrypt, encrypt, parse_key
from copilot_admin.copilots.providers import (
    api_key_of,
    forget_secrets_if_moved,
    key_variables,
    may_hold_key,
    provider_spec,
    set_api_key,
)
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Provider
from tests.factories import make_provider

PLACE = SecretLocation(table="provider", row="1", field="api_key")


@given(strategies.text(alphabet=strategies.characters(exclude_categories=["Cs"])))
def test_an_encrypted_text_can_be_decrypted(text):
    assert decrypt(encrypt(text, location=PLACE), location=PLACE) == text


@pytest.mark.parametrize(
    "place",
    [
        SecretLocation(table="other", row="1", field="api_key"),
        SecretLocation(table="provider", row="2", field="api_key"),
        SecretLocation(table="provider", row="1", field="other"),
    ],
)
def test_a_ciphertext_cannot_be_decrypted_at_another_location(place):
    with pytest.raises(ConfigurationError, match="can't be decrypted"):
        decrypt(encrypt("x", location=PLACE), location=place)


def test_a_changed_ciphertext_cannot_be_decrypted():
    key_id, _, body = encrypt("x", location=PLACE).partition(":")
    for changed in (body[:-4] + "AAA=", "", "?", body[:8]):
        with pytest.raises(ConfigurationError, match="can't be decrypted"):
            decrypt(f"{key_id}:{changed}", location=PLACE)


def test_the_newest_key_encrypts_and_older_ones_decrypt(settings):
    old, new = parse_key(create_key()), parse_key(create_key())
    settings.ENCRYPTION_KEYS = (old,)
    ciphertext = encrypt("x", location=PLACE)
    settings.ENCRYPTION_KEYS = (new, old)
    assert decrypt(ciphertext, location=PLACE) == "x"
    assert encrypt("x", location=PLACE).startswith(new.id)
    settings.ENCRYPTION_KEYS = (new,)
    with pytest.raises(ConfigurationError, match=f"'{old.id}' is not among"):
        decrypt(ciphertext, location=PLACE)


@pytest.mark.database
@pytest.mark.django_db
def test_a_stored_key_is_encrypted_and_leaves_a_hint():
    provider = make_provider()
    set_api_key(provider, " sk-0123456789abcdef ")

    stored = Provider.objects.get()
    assert "0123456789" not in stored.api_key_cipher
    assert stored.api_key_hint == "cdef"
    assert provider_spec(stored).api_key == "sk-0123456789abcdef"
    assert "0123456789" not in repr(provider_spec(stored))


@pytest.mark.django_db
def test_a_short_key_leaves_no_hint_and_an_empty_one_removes_it():
    provider = make_provider()
    set_api_key(provider, "0123456789")
    assert (provider.api_key_hint, api_key_of(provider)) == ("", "0123456789")
    set_api_key(provider, "")
    assert (provider.api_key_cipher, api_key_of(provider)) == ("", "")


@pytest.mark.parametrize("name", ["COPILOT_KEY_LOCAL", "OPENAI_API_KEY", "LLM_KEY"])
def test_a_key_is_read_from_its_variable(monkeypatch, settings, name):
    settings.KEY_VARIABLES = ("LLM_KEY",)
    monkeypatch.setenv(name, "from-environment")
    assert api_key_of(Provider(api_key_env=name)) == "from-environment"
    assert key_variables() == "COPILOT_KEY_..., OPENAI_API_KEY, LLM_KEY"


@pytest.mark.parametrize(
    "name",
    [
        "SECRET_KEY",
        "COPILOT_ENCRYPTION_KEYS",
        "DATABASE_URL",
        "COPILOT_KEY_VARIABLES",
        "COPILOT_KEY_",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "copilot_key_local",
        "SECRET_KEY_FILE",
    ],
)
def test_any_other_variable_is_never_sent_to_a_provider(name, monkeypatch):
    monkeypatch.setenv(name, "secret of the server")
    assert not may_hold_key(name)
    with pytest.raises(ConfigurationError) as refusal:
        api_key_of(Provider(name="Local", api_key_env=name))
    assert refusal.value.public == (
        f"Provider 'Local' may not use the variable {name}. Keys come from: COPILOT_KEY_..., "
        "OPENAI_API_KEY. COPILOT_KEY_VARIABLES allows more names."
    )


@pytest.mark.parametrize("name", ["COPILOT_KEY_LOCAL", "OPENAI_API_KEY"])
def test_the_name_of_a_key_file_is_never_sent_instead_of_its_key(name, monkeypatch, tmp_path):
    file = tmp_path / "key"
    file.write_text("from-file\n")
    monkeypatch.setenv(f"{name}_FILE", str(file))
    assert api_key_of(Provider(api_key_env=name)) == "from-file"
    with pytest.raises(ConfigurationError) as refusal:
        api_key_of(Provider(name="Local", api_key_env=f"{name}_FILE"))
    assert refusal.value.public.startswith(
        f"Provider 'Local' may not use the variable {name}_FILE. Keys come from: {name}. "
    )


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://a.com/v2", True),
        ("HTTPS://A.com/v1", True),
        ("https://a.com:8443/v1", False),
        ("http://a.com/v1", False),
        ("https://b.com/v1", False),
        ("", False),
    ],
)
def test_a_key_stays_with_the_server_it_was_entered_for(url, kept):
    provider = Provider(base_url="https://a.com/v1", api_key_cipher="x", api_key_hint="y")
    forget_secrets_if_moved(provider, url, {})
    assert (provider.api_key_cipher, provider.api_key_hint) == (("x", "y") if kept else ("", ""))


@pytest.mark.parametrize("text", ["", "AAAA", "no base64!", "ключ", "A" * 44])
def test_invalid_keys_are_rejected(text):
    with pytest.raises(ValueError, match="32 random bytes"):
        parse_key(text)
