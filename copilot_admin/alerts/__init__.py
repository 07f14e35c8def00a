"""Alert rules, weekly digests, and their delivery by mail and webhook."""
