"""What stands before Django: limits, origins, headers, start and stop."""
