"""The choices of a copilot's form, each with a sentence of help."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.engine.values.spec import CitationMode, WidgetDataMode
from copilot_admin.models import Access, Logging

WIDGET_DATA: Mapping[str, str | Promise] = {
    WidgetDataMode.FETCH: _(
        "Selected widgets are read before the model is asked. Surest when every answer is about them."
    ),
    WidgetDataMode.ASK: _(
        "The model decides which widgets it reads. Best for open conversations; needs a model that "
        "can call tools."
    ),
    WidgetDataMode.OFF: _("Widgets are never read. The copilot answers from the prompt alone."),
}
CITATIONS: Mapping[str, str | Promise] = {
    CitationMode.OFF: _("Nothing is cited."),
    CitationMode.WIDGETS: _("The widgets whose data was used are listed under the answer."),
    CitationMode.DOCUMENTS: _("The same, and what is quoted of a PDF is marked on its page."),
}
DATA_MESSAGES: Mapping[str, tuple[str | Promise, str | Promise]] = {
    "widgets": (_("Widgets"), _("The list of widgets, as one note of the kind “widgets”.")),
    "context": (_("Artifacts of the chat"), _("Pieces of one artifact become one note.")),
    "results": (_("Data of widgets"), _("Data of one widget becomes one note, not a repetition.")),
    "workspace": (_("The dashboard"), _("Its tabs and widgets, and the user's time zone.")),
    "options": (_("Options of the chat"), _("What the user chose in the settings of the chat.")),
    "merge": (_("Merge notes of one kind"), _("Off: the model sees every piece for itself.")),
}
ACCESS: Mapping[str, str | Promise] = {
    Access.OPEN: _("Everybody who can reach this server may ask it, without a key."),
    Access.KEY: _("Only callers with an endpoint key may see and ask it."),
}
LOGGING: Mapping[str, str | Promise] = {
    Logging.EVERYTHING: _("Whole conversations can be read and judged in Transcripts."),
    Logging.METADATA: _("Times, tokens and outcomes are kept, but nothing that was said."),
    Logging.NOTHING: _("Only that a question was answered is kept."),
}
