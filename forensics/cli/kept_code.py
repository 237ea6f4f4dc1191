"""Nothing: the file that Python compiles this one to holds the modules that `kept_modules` keeps, and pip and uv delete it."""
