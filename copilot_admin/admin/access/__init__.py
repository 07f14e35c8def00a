"""Who may do what: keys of endpoints, people and their roles."""
