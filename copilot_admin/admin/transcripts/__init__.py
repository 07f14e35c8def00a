"""What reviewers read: the list of conversations, their pages, and calls of components."""
