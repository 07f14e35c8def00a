"""The JSON that the page's script sends beside a form: as a file, which no form reads as a text."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from copilot_admin.errors import BodyTooLarge
from copilot_admin.http.form_bodies import TOO_LARGE_TYPE


def sent_json(request: HttpRequest, name: str) -> bytes:
    """What a form brings under a name; nothing where it does not.

    Raises:
        BodyTooLarge: It was too large to come here.
    """
    file = request.FILES.get(name)
    if file is None:
        return request.POST.get(name, "").encode()
    if file.content_type == TOO_LARGE_TYPE:
        megabytes = settings.MAX_BODY_BYTES / (1024 * 1024)
        sentence = _(
            "The question and what it brings are larger than the %(most)g MB this server accepts. "
            "Send less data."
        )
        raise BodyTooLarge(sentence % {"most": megabytes})
    return bytes(file.read())
