"""Who answers in the playground: the draft as typed, a version, or the draft with another model."""

from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.errors import NotFound, UnusableRequest
from copilot_admin.evaluation.playground import Witness, draft_in_trial, version_in_trial
from copilot_admin.models import Copilot, CopilotVersion, Provider

# Fields of the query that are none of the form.
QUERY = "playground"  # the body that Workspace would send
VERSION = "playground-version"  # its number, or LIVE; absent: the draft answers
PROVIDER = "playground-provider"  # the id of the one that answers instead of the draft's own
MODEL = "playground-model"
LIVE = "live"
ORIGIN = "playground-origin"  # the id of the conversation whose question is asked again
OWN_FIELDS = (QUERY, VERSION, PROVIDER, MODEL, ORIGIN)
UNNAMED_FORM_FIELDS = ("seen", "upload")  # who else saved, and a picture, do not change an answer


def side_of(pk: int, sent: QueryDict, *, tell: Witness) -> LiveCopilot:
    """Makes ready what a column of the playground asks; reads the database, and saves nothing.

    Args:
        pk: Of the copilot.
        sent: The copilot's form as it stands, or which version is asked.
        tell: Told of each request to the model.

    Raises:
        NotFound: The copilot, its version or the provider is not there any more.
        UnusableRequest: The form cannot be understood.
    """
    copilot = Copilot.objects.in_use().filter(pk=pk, deletion_requested_at=None).first()
    if copilot is None:
        raise NotFound(_("This copilot is gone."))
    if wanted := sent.get(VERSION, ""):
        return version_in_trial(_version(copilot, wanted), tell=tell)
    typed, is_other = _typed(sent), bool(sent.get(PROVIDER) or sent.get(MODEL))
    if is_other:
        # Whatever became of its own: a draft whose provider was deleted can be tried with another.
        typed["provider"], typed["model"] = str(_provider(sent).pk), _model(sent)
    return draft_in_trial(_draft(copilot, typed), tell=tell, is_model_fixed=is_other)


def origin_of(sent: QueryDict) -> int | None:
    """The conversation whose question is asked again; None: it is a question of the builder's own."""
    wanted = sent.get(ORIGIN, "")
    is_id = wanted.isascii() and wanted.isdecimal() and len(wanted) < 16
    return int(wanted) if is_id else None


def _version(copilot: Copilot, wanted: str) -> CopilotVersion:
    versions = copilot.versions.select_related("provider", "copilot")
    if wanted == LIVE:
        found = versions.filter(pk=copilot.live_id or 0).first()
        sentence = _("Nothing of this copilot is live. Choose a version or the draft.")
    else:
        is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) < 10
        found = versions.filter(number=int(wanted)).first() if is_number else None
        sentence = _("There is no version %(number)s of this copilot. Choose another.") % {
            "number": wanted[:20]
        }
    if found is None:
        raise NotFound(sentence)
    return found


def _typed(sent: QueryDict) -> QueryDict:
    typed = sent.copy()
    for name in (*OWN_FIELDS, *UNNAMED_FORM_FIELDS):
        typed.pop(name, None)
    return typed


def _draft(copilot: Copilot, typed: QueryDict) -> Copilot:
    with transaction.atomic():  # the form locks the row while it looks for other editors
        form = CopilotForm(typed, instance=copilot)
        if not form.is_valid():
            raise UnusableRequest(_faults(form))
        return form.save(commit=False)


def _provider(sent: QueryDict) -> Provider:
    wanted = sent.get(PROVIDER, "")
    is_id = wanted.isascii() and wanted.isdecimal() and len(wanted) < 16
    found = Provider.objects.filter(pk=int(wanted)).first() if is_id else None
    if found is None:
        raise NotFound(_("The provider of this column is gone. Choose another."))
    return found


def _model(sent: QueryDict) -> str:
    model = sent.get(MODEL, "").strip()
    longest: int = Copilot._meta.get_field("model").max_length or 0
    if not model or len(model) > longest:
        raise UnusableRequest(_("Write which model answers in this column."))
    return model


def _faults(form: CopilotForm) -> str:
    sentences = [
        f"{form.fields[name].label}: {' '.join(map(str, errors))}"
        if name in form.fields
        else " ".join(map(str, errors))
        for name, errors in form.errors.items()
    ]
    return _("The draft cannot be asked yet. %(faults)s") % {"faults": " ".join(sentences)}
