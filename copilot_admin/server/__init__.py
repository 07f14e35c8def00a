"""The server process: start, periodic tasks, worker processes and graceful shutdown."""
