"""Those who are trusted to sign certificates, where the environment names them."""

from collections.abc import Iterator, Mapping
import os
from pathlib import Path
import ssl

# The variables, and whether a folder may be named.
_NAMING = {"SSL_CERT_FILE": False, "SSL_CERT_DIR": True, "REQUESTS_CA_BUNDLE": True}


def faults_of_issuers(environment: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the files that are named: OpenSSL says nothing of them, and trusts nobody."""
    for name, may_be_folder in _NAMING.items():
        if (named := environment.get(name)) and (fault := _fault_of(named, may_be_folder)):
            yield f"{name} names {named}, where no certificates can be read: {fault}."


def _fault_of(named: str, may_be_folder: bool) -> str:
    """What is wrong with a file or folders of certificates; nothing: it can be used."""
    if may_be_folder and any(map(os.path.isdir, named.split(os.pathsep))):
        return ""
    try:
        if Path(named).is_fifo():  # OpenSSL would wait for somebody who writes
            return "it is no file"
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(named)
    except ssl.SSLError:  # it is an OSError as well, with a number of OpenSSL's
        return "the file holds none"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or "that is no name of a file"
    return ""
