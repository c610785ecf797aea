"""The pure engine: commands in, events out. No I/O, no clock, no randomness."""
