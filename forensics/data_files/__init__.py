"""Files of signatures/: where they are, how their YAML is read and checked for form, and the cache of what was made of them."""
