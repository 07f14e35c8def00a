"""An address that somebody types whose log-ins are refused, as failures are counted by it."""

from argparse import ArgumentTypeError

from copilot_admin.admin.frame.login import counted_address


def typed_address(text: str) -> str:
    """The address, or its network.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        return counted_address(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no address. Write it as 192.0.2.1.") from None
