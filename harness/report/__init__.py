"""What a run came to as reports of every kind, compared and merged; pure, but for reading and writing."""
