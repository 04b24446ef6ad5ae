"""Statistics shared by the rooms: intervals (`intervals` says which method is for what), tests, seeding, rounding."""
