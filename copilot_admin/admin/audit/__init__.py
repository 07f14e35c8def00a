"""The audit log: list, entry, and download of what the filters find."""
