# Each kernel runs this before its first cell; book/lite/build.py names it as PYTHONSTARTUP.
__import__("toytf_lite").explain(get_ipython())  # noqa: F821
