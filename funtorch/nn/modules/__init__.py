"""The layers, a file for each family. The package ``nn`` puts all of their names here."""
