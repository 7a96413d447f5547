# Each kernel runs this before its first cell: it is PYTHONSTARTUP (book/lite/build.py).
__import__("toytf_lite").explain(get_ipython())  # noqa: F821
