"""Mutation testing of this project: `./test mutants` (CONTRIBUTING.md tells how to use it)."""
