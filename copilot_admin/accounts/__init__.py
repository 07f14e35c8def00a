"""Accounts of people in the admin: members of copilots, SSO accounts, and their sessions."""
