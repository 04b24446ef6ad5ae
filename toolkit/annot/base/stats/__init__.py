"""Statistics shared by the rooms: intervals (`values` says which method is for what), tests, seeding, rounding."""
