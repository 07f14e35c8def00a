"""Why the firm's log-in could not be asked: for people, and in the log for whoever runs this server."""

import logging

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
import requests

from copilot_admin.agent.fetching.tls_faults import tls_fault

SILENT = gettext_lazy("Your firm's log-in does not answer. Try again in a minute.")
_CERTIFICATE = gettext_lazy(
    "The certificate of your firm's log-in is not accepted by this server. Tell an operator."
)
_ISSUERS = "REQUESTS_CA_BUNDLE"  # the client for it looks into no other variable
logger = logging.getLogger(__name__)


def why_unreached(error: BaseException) -> Promise:
    """What somebody is told who wants to log in; what an operator has to do goes to the log."""
    if fault := tls_fault(error):
        logger.warning("%s %s", fault.said("the firm's log-in"), fault.advice(_ISSUERS))
        return _CERTIFICATE
    if not isinstance(error, requests.RequestException | ValueError):
        # Without an address or a class of its own: the client looks for the file itself.
        logger.warning("The firm's log-in cannot be asked: %s.", error)
        return _CERTIFICATE
    return SILENT
