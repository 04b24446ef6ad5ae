"""One study: its folder, one record of it read in one transaction, and what is computed from that record."""
