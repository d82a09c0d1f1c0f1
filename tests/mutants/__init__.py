"""Mutation testing of this project: `./test mutants` (CONTRIBUTING.md shows how to use it)."""
