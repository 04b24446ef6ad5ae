"""The release: card, datasheet, Croissant, the folder itself, and the scan for secrets."""
