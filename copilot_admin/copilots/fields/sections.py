"""The tabs of the form and their sections, in the order in which a builder meets them."""

from django.utils.translation import gettext_lazy as _

from copilot_admin.copilots.fields.draft_field import FormTab, Section

BASICS = FormTab("basics", _("Basics"))
FEATURES_TAB = FormTab("features", _("Features"))
DATA_TAB = FormTab("data", _("Data and tools"))
CONVERSATION = FormTab("conversation", _("Steps and starters"))
ACCESS_TAB = FormTab("access", _("Access"))

IDENTITY = Section(_("Identity"), BASICS)
INSTRUCTIONS = Section(_("Instructions"), BASICS)
MODEL = Section(_("Model"), BASICS)
PARAMETERS = Section(
    _("Parameters and model picker"),
    BASICS,
    _("Empty: as the provider has it. Most copilots need none of them."),
    is_folded=True,
)
FEATURES = Section(_("Features"), FEATURES_TAB)
DATA_AND_TOOLS = Section(_("Data and tools"), DATA_TAB)
COMPONENTS = Section(
    _("Components"),
    DATA_TAB,
    _("Work that the server does when the model asks for it."),
    is_folded=True,
)
DATA_NOTES = Section(
    _("Data notes"),
    DATA_TAB,
    _("Data that the model keeps at hand while a conversation lasts."),
    is_folded=True,
)
PATIENCE = Section(
    _("Patience"),
    DATA_TAB,
    _("How much a question may bring and ask for before it is answered with what there is."),
    is_folded=True,
)
STEPS_AND_STARTERS = Section(_("Steps and starters"), CONVERSATION)
ACCESS_AND_LOGGING = Section(
    _("Access and logging"),
    ACCESS_TAB,
    _("These act as soon as you save; they do not wait for publishing."),
)
SECTIONS = (
    IDENTITY,
    INSTRUCTIONS,
    MODEL,
    PARAMETERS,
    FEATURES,
    DATA_AND_TOOLS,
    COMPONENTS,
    DATA_NOTES,
    PATIENCE,
    STEPS_AND_STARTERS,
    ACCESS_AND_LOGGING,
)
