"""The checks that keep the book's numbers true, as plain functions.

Each check takes what it looks at (a notebook, a page's text, a folder) and returns a
list of sentences, one for each problem; an empty list means that the promise holds.
The tests run every check on the book, and on copies with a planted mistake.
"""
