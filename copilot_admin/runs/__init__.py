"""The life of one run: admission, stream to the client, records, cancellation, live updates."""
