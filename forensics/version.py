"""The version and the name of the distribution, in a module of their own so that every other module may import them."""

VERSION = "0.2.0"
DISTRIBUTION = "training-forensics"  # the import is `forensics`; a project of that name brings an import `forensics`, too


def others() -> list[str]:
    """Name and version of other installed distributions with an import `forensics`. Slow: it reads all installed metadata."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    found = []
    for name in sorted(set(packages_distributions().get("forensics", ()))):
        try:
            found += [f"{name} {version(name)}"] if name != DISTRIBUTION else []
        except PackageNotFoundError:  # half uninstalled
            found.append(name)
    return found
