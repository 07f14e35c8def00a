"""The service: copilots made in a web admin, answered for OpenBB Workspace, and read as transcripts."""
