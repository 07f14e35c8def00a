"""The JSON that the page's script sends beside a form: as a file, which no form reads as a text."""

from django.http import HttpRequest


def sent_json(request: HttpRequest, name: str) -> bytes:
    """What a form brings under a name; nothing where it does not."""
    file = request.FILES.get(name)
    return request.POST.get(name, "").encode() if file is None else bytes(file.read())
