"""`manage.py axes_reset_ip_username ADDRESS NAME`: as django-axes has it, for addresses as the log-in counts them."""

from argparse import ArgumentParser

from axes.management.commands import axes_reset_ip_username

from copilot_admin.terminal.typed_addresses import typed_address


class Command(axes_reset_ip_username.Command):  # type: ignore[misc]  # django-axes has no types
    """Forgets what failed for an account from one address, or the network that it is counted with."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the address and the name."""
        parser.add_argument("ip", type=typed_address, metavar="ADDRESS")
        parser.add_argument("username", metavar="NAME")
