"""Apple's GPUs: there are none here."""


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether the system is macOS of this version or newer."""
    import platform

    version = platform.mac_ver()[0]
    return bool(version) and tuple(map(int, version.split(".")[:2])) >= (major, minor)
