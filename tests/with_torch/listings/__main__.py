"""Store what all scripts give: `make test-torch STORE=1`."""

import numpy as np
import torch

from listings import dumps, names, run
from toytf._command import write_whole
from toytf.course.pytorch import STORED

write_whole(STORED, dumps({name: run(name) for name in names()}, torch.__version__, np.__version__).encode())
