"""`await toytf_lite.load()` fetches what the course needs into the browser.

NumPy and matplotlib come over the network when the reader asks for them. What cannot
be had is named in the cell, and no cell waits forever.
"""

import asyncio
import re
import sys

NEEDED = ("numpy", "matplotlib", "mdit-py-plugins", "toytf")
# What is not in the site itself, as it is imported and as it is called.
REMOTE = {"numpy": "NumPy", "matplotlib": "matplotlib"}
SECONDS = 180  # for all of it
WORDS = """\
{names} could not be fetched, so the course cannot compute here now.
{cause}
This page brings Python and the course. NumPy and matplotlib come over the network,
when you run the first cell, from {host}, the address of Pyodide.
Are you online, and does your network let you reach that address? Then restart the
kernel (menu Kernel) and run the cells again from the first.

Without a network you can read the book, which needs none, or run its notebooks with
a Python of your own: the folder of the course says how (README.md)."""
_NAME = re.compile(r"'(\w+)'")


class NotHere(ModuleNotFoundError):
    """A package that cannot be fetched, in words for the reader."""

    def _render_traceback_(self):
        # The words alone: what stands between is none of the reader's concern.
        return [f"{type(self).__name__}: {self}"]


async def load(names=NEEDED, *, seconds=SECONDS):
    """Fetch packages, and say how it goes.

    Raises NotHere when one of them cannot be had, or does not come in time.
    """
    import pyodide_js

    missing = [name for name in names if name not in _loaded()]
    if not missing:
        return
    far = [REMOTE[name] for name in missing if name in REMOTE]
    if far:
        print(f"Fetching {' and '.join(far)}, once; this can take a minute.")
    said = []
    loading = pyodide_js.loadPackage(
        missing, messageCallback=lambda line: None, errorCallback=said.append
    )
    try:
        await asyncio.wait_for(_finished(loading), seconds)
    except TimeoutError:
        said.append(f"Nothing came for {seconds:g} seconds.")
    except Exception as error:
        said.append(str(error))
    absent = [name for name in missing if name not in _loaded()]
    if absent:
        raise NotHere(_words(absent, said), name=absent[0])
    print("Everything is here.")


async def _finished(promise):
    return await promise


def _loaded():
    import pyodide_js

    return {
        name.lower().replace("_", "-") for name in pyodide_js.loadedPackages.to_py()
    }


def _words(absent, said):
    cause = "".join(f"The browser said: {line}\n" for line in said[-1:])
    names = " and ".join(REMOTE.get(name, name) for name in absent)
    return WORDS.format(names=names, cause=cause, host=_host())


def _host():
    """The address that the list of packages names for NumPy."""
    from urllib.parse import urlsplit

    import pyodide_js

    packages = pyodide_js.lockfile.packages
    return urlsplit(packages.numpy.file_name).netloc or "where this page is"


def explain(shell):
    """From now on, an import that fails for want of NumPy says so in these words."""

    def instead(shell, kind, error, trace, tb_offset=None):
        found = _NAME.search(str(error))
        name = getattr(error, "name", None) or (found and found[1]) or ""
        name = name.partition(".")[0]
        said = isinstance(error, NotHere)  # by load, which knows more
        if name in REMOTE and name not in sys.modules and not said:
            error = NotHere(_words([name], []), name=name)
            kind = NotHere
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    shell.set_custom_exc((ModuleNotFoundError,), instead)
