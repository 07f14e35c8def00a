"""How large a file may be, whether it comes with a question or is fetched."""

MOST_BYTES = 50 * 1024 * 1024
