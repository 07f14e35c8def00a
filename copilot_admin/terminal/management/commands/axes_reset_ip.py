"""`manage.py axes_reset_ip ADDRESS ...`: as django-axes has it, for addresses as the log-in counts them."""

from argparse import ArgumentParser

from axes.management.commands import axes_reset_ip

from copilot_admin.terminal.typed_addresses import typed_address


class Command(axes_reset_ip.Command):  # type: ignore[misc]  # django-axes has no types
    """Lets an address, or the network that it is counted with, log in again."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the addresses."""
        parser.add_argument("ip", nargs="+", type=typed_address, metavar="ADDRESS")
