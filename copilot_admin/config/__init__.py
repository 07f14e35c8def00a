"""Settings types that several packages share, roles, encryption, databases and logs."""
