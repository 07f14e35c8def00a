"""Whether an answer gives what it is about, or its headers alone."""

from django.http import HttpRequest


def gives_body(request: HttpRequest) -> bool:
    """Whether somebody gets to read what is answered, which the trail then says of him.

    A HEAD, as of browsers' managers of downloads and of previews, gets headers: an entry would say
    that he has a file or has read a page of which he got nothing. Other methods than GET do get it.
    """
    return request.method != "HEAD"
