"""Labels and scores, review queues, and exports in the admin."""
