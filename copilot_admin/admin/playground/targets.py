"""Targets of a question: the draft as typed, a version, or the draft with another model."""

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.copilots.live import LiveCopilot
from copilot_admin.errors import NotFound, UnusableRequest
from copilot_admin.evaluation.targets import CallObserver, prepare_draft, prepare_version
from copilot_admin.models import Copilot, CopilotVersion, Provider

CHANGE = "copilot_admin.change_copilot"

# Fields of a question that don't belong to the form of the copilot.
QUERY = "playground"  # the body that Workspace would send
VERSION = "playground-version"  # its number, or LIVE; absent: the draft answers
PROVIDER = "playground-provider"  # id of the one that answers instead of the draft's own
MODEL = "playground-model"
LIVE = "live"
ORIGIN = "playground-origin"  # id of the conversation whose question is asked again
OWN_FIELDS = (QUERY, VERSION, PROVIDER, MODEL, ORIGIN)
UNNAMED_FORM_FIELDS = ("seen", "upload")  # other editors and a picture don't change an answer


def may_build(user: User | AnonymousUser) -> bool:
    """Return whether a user may use the playground; its URLs aren't behind the admin site."""
    return user.is_active and user.is_staff and user.has_perm(CHANGE)


def read_file(request: HttpRequest, name: str) -> bytes:
    """Return JSON that a script sends next to a form: as a file, which no form field limits."""
    file = request.FILES.get(name)
    return request.POST.get(name, "").encode() if file is None else bytes(file.read())


def read_id(sent: QueryDict, name: str) -> int | None:
    """Return a field as an id, or None if it isn't one."""
    value = sent.get(name, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 16 else None


def build_target(pk: int, sent: QueryDict, *, observe: CallObserver) -> LiveCopilot:
    """Prepare the target of a question; reads the database, and saves nothing.

    Args:
        pk: Of the copilot.
        sent: The copilot's form as it stands, or the chosen version.
        observe: Called with each request to the model.

    Raises:
        NotFound: The copilot, its version or the provider was deleted.
        UnusableRequest: The form has errors.
    """
    copilot = Copilot.objects.in_use().filter(pk=pk, deletion_requested_at=None).first()
    if copilot is None:
        raise NotFound(_("This copilot was deleted."))
    if wanted := sent.get(VERSION, ""):
        return prepare_version(_load_version(copilot, wanted), observe=observe)
    form_data = sent.copy()
    for name in (*OWN_FIELDS, *UNNAMED_FORM_FIELDS):
        form_data.pop(name, None)
    has_own_model = bool(sent.get(PROVIDER) or sent.get(MODEL))
    if has_own_model:
        # Also a draft whose provider was deleted can be tried with another.
        form_data["provider"] = str(_load_provider(sent).pk)
        form_data["model"] = _read_model(sent)
    return prepare_draft(
        _read_draft(copilot, form_data), observe=observe, is_model_fixed=has_own_model
    )


def _load_version(copilot: Copilot, wanted: str) -> CopilotVersion:
    versions = copilot.versions.select_related("provider", "copilot")
    if wanted == LIVE:
        found = versions.filter(pk=copilot.live_id or 0).first()
        error = _("No version is live. Choose the draft or a version.")
    else:
        is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) < 10
        found = versions.filter(number=int(wanted)).first() if is_number else None
        error = _("Version %(number)s does not exist. Choose another version.") % {
            "number": wanted[:20]
        }
    if found is None:
        raise NotFound(error)
    return found


def _read_draft(copilot: Copilot, form_data: QueryDict) -> Copilot:
    with transaction.atomic():  # the form locks the row while it looks for other editors
        form = CopilotForm(form_data, instance=copilot)
        if not form.is_valid():
            errors = " ".join(
                f"{form.fields[name].label}: {' '.join(map(str, found))}"
                if name in form.fields
                else " ".join(map(str, found))
                for name, found in form.errors.items()
            )
            raise UnusableRequest(_("Fix the errors in the form first. %s") % errors)
        return form.save(commit=False)


def _load_provider(sent: QueryDict) -> Provider:
    found = Provider.objects.filter(pk=read_id(sent, PROVIDER) or 0).first()
    if found is None:
        raise NotFound(_("This provider was deleted. Choose another."))
    return found


def _read_model(sent: QueryDict) -> str:
    model = sent.get(MODEL, "").strip()
    max_length: int = Copilot._meta.get_field("model").max_length or 0
    if not model or len(model) > max_length:
        raise UnusableRequest(_("Enter a model ID."))
    return model
