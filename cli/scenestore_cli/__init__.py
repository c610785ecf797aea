"""The command line: reads arguments, calls the store, prints, decides nothing."""
