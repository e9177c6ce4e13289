"""Entry points and wiring only: settings, command line."""
