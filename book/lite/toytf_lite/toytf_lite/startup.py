# Each kernel runs this before its first cell: it is PYTHONSTARTUP (book/lite/build.py).
from IPython import get_ipython

if get_ipython():  # pytest reads each module, this one too
    __import__("toytf_lite").explain(get_ipython())
