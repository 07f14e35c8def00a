"""A provider as its form stands, saved or not: what is typed is tried before it is kept."""

from dataclasses import replace

from django.utils.translation import gettext as _

from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.config import logs
from copilot_admin.copilots.providers import check_key_variable, provider_spec, read_timeouts
from copilot_admin.errors import ConfigurationError

UNUSED = "name"  # what is called nothing yet can be tried


def spec_of_form(form: ProviderForm) -> ProviderSpec:
    """The provider that a sent form describes; the form's instance is not fit to be saved afterwards.

    A key, stored or in a variable, goes to the servers that it was saved with and nowhere else.

    Raises:
        ConfigurationError: Something in the form is wrong, or its key cannot be had.
    """
    wrong = [
        f"{form.fields[name].label}: {sentence}" if name in form.fields else str(sentence)
        for name, sentences in form.errors.items()
        if name != UNUSED
        for sentence in sentences
    ]
    if wrong:
        raise ConfigurationError(_("Mend this first. %(faults)s") % {"faults": " ".join(wrong)})
    provider = form.instance
    if form.new_key is not None:
        provider.api_key_cipher = ""
    if form.new_key:
        provider.api_key_env = ""  # what was typed takes precedence
    check_key_variable(provider)
    spec = replace(provider_spec(provider), timeouts=read_timeouts(form.timeouts))
    if form.new_key:
        logs.hide(form.new_key)
        return replace(spec, api_key=form.new_key)
    return spec
