"""Nothing: the file that Python would compile this one to holds the modules that `kept_modules` keeps, and pip and uv delete it."""
