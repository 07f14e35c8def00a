"""How many files and connections the process may have open at once: with too few it breaks anywhere."""

import resource

from copilot_admin.errors import ConfigurationError

LEAST = 128  # an idle server has 40; each answer has three, and twenty at once are nothing unusual


def check_open_files() -> None:
    """Refuses to start where hardly anything may be open.

    Raises:
        ConfigurationError: The limit is too low.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < LEAST:
        raise ConfigurationError(
            f"This process may have {most} files and connections open at once; a server needs at least "
            f"{LEAST}. Raise the limit (`ulimit -n 4096`, or LimitNOFILE= of its systemd unit)."
        )
