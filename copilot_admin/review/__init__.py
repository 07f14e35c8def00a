"""Reviews of conversations: queues, assignments, and their results."""
