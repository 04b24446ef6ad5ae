"""Statistics shared by the rooms: intervals (`values` lists the method for each purpose), tests, seeding, rounding."""
