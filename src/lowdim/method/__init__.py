"""One method, one short file: a recipe of named steps."""
