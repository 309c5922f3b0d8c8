"""The door to AWS's control planes: one module per service, each reading what is there and changing nothing."""
