"""Matching of stateless requests to stored conversations, and storing of their new messages."""
