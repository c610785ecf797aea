"""One file a command; `scenestore_cli.main` has the list."""
