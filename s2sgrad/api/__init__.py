"""What a user calls, and what a call of a gradient does."""
