"""The running example as a spreadsheet: a sheet a step, every number a formula of the cells before it.

    >>> from toytf.course import spreadsheet
    >>> book = spreadsheet.hello_world()
    >>> len(book.pages)
    23

Writing the file, ``book.file()``, needs openpyxl (``pip install "toytf[spreadsheet]"``).
"""

from toytf.course.spreadsheet.way import hello_world

__all__ = ["hello_world"]
