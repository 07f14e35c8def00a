"""The garbage collector of a server process: it looks at what comes and goes, not at what stays."""

import gc

# Objects that come before it looks for cycles among them. Python's 700 are fewer than a short
# question makes, so that each was looked through several times while it was being answered; 20,000
# are some 5 MB.
NEW_OBJECTS = 20_000
YOUNGER_ROUNDS = 10  # before it looks at what survived them; Python's own


def spare_what_stays() -> None:
    """Takes what is loaded out of its sight, and lets it look more rarely at the rest.

    A full round over the modules, models and settings of a server is a pause of 0.1 s for all who
    are being answered, and finds nothing. What comes from now on is collected as ever.
    """
    gc.collect()
    gc.freeze()
    look_rarely()


def look_rarely() -> None:
    """Lets it look for cycles as seldom as a server needs it."""
    gc.set_threshold(NEW_OBJECTS, YOUNGER_ROUNDS, YOUNGER_ROUNDS)
