"""Background jobs: deletion, removal, sweeps, costs, key rotation, backup."""
