"""A versioned store of scenes, kept as events in a git repository."""
