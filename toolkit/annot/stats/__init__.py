"""Statistics shared by the rooms: intervals, resampling, tests, seeding."""
