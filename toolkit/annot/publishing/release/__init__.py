"""What is published: card, datasheet, Croissant, the release folder, and the scan for what must not leave."""
