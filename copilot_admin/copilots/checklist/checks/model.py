"""What can be wrong with the models of a copilot, and with their provider's key."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import Finding, error, warning
from copilot_admin.copilots.checklist.known_models import is_no_chat, models_of
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts

# Hosts that require a key; other servers may authenticate in other ways.
_ONLY_WITH_A_KEY = (
    "api.openai.com",
    "api.anthropic.com",
    "api.mistral.ai",
    "api.groq.com",
    "api.deepseek.com",
    "api.together.xyz",
    "api.x.ai",
    "generativelanguage.googleapis.com",
    "openrouter.ai",
)


@Check
def none(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """No model is chosen, so nothing could answer."""
    if not content.spec.model.strip():
        yield error("model", _("Choose a model."))


@Check
def not_listed(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """The provider did not name the model when it was last asked; some list less than they have."""
    own = content.spec.provider.name
    named = [
        ("model", own, content.spec.model),
        *(("models", own, id) for id, _name in content.spec.models),
        *(
            ("custom_features", one.provider or own, one.model)
            for one in content.spec.custom_features
        ),
        *(("fallbacks", one.provider or own, one.model) for one in content.spec.fallbacks),
    ]
    for field, provider, model in dict.fromkeys(named):
        listed = facts.models.get(provider)
        if model.strip() and listed and model not in listed:
            sentence = _(
                "The provider “%(provider)s” doesn't list the model “%(model)s”. Check the "
                "spelling."
            )
            yield warning(field, sentence % {"provider": provider, "model": model})


@Check
def no_chat(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """A model for something else than conversations."""
    for model in filter(is_no_chat, models_of(content.spec)):
        field = "model" if model == content.spec.model else "models"
        sentence = _("The model “%(model)s” isn't a chat model. Choose another.")
        yield warning(field, sentence % {"model": model})


@Check
def without_itself(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """The picker offers models, but not the default model."""
    spec = content.spec
    if spec.models and spec.model not in {id for id, _name in spec.models}:
        sentence = _("The model picker doesn't include the default model “%(model)s”. Add it.")
        yield warning("models", sentence % {"model": spec.model})


@Check
def without_key(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """The provider has no key, and its server requires one."""
    provider = content.spec.provider
    try:
        host = urlsplit(provider.base_url.strip()).hostname
    except ValueError:
        return  # the form of the provider reports an invalid URL
    if host in _ONLY_WITH_A_KEY and not provider.api_key:
        sentence = _("The provider “%(name)s” has no API key, but %(host)s requires one.")
        yield warning("provider", sentence % {"name": provider.name, "host": host})
