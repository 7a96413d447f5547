"""What the spreadsheet must show: computed by `toytf` from the same inputs, and by others from the file itself."""

import io
import shutil
import subprocess
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
import openpyxl

from toytf.attention import causal_mask, multi_head_attention
from toytf.course import journey
from toytf.course.spreadsheet.cells import HIDDEN
from toytf.example import POSITIONS_PRINTED
from toytf.model import feed_forward
from toytf.ops import embedding, layer_norm, linear, softmax
from toytf.positions import sinusoids, sinusoids_column_as_i


@dataclass
class Inputs:
    """What can be typed into the file."""

    params: object = field(default_factory=lambda: deepcopy(journey.params))
    source: tuple = ("Hello", "World")
    target: tuple = ("SOS", "hola", "mundo")
    positions: str = "paper"
    divisor: float = 3**0.5
    mask: np.ndarray = field(default_factory=lambda: causal_mask(3))


def changed():
    """Inputs of which many differ from those of the file: words, embeddings, weights, switches."""
    it = Inputs(source=("World", "Hello"), target=("SOS", "mundo", "hello"), positions="published", divisor=30.0)
    it.params.src_embedding = np.array([[1.0, 2.5, 3.0, 4.0], [2.0, 3.0, -4.25, 5.0]])
    it.params.encoder[0].feed_forward.b_1[2] = 0.75
    it.params.encoder[0].norm_2.gamma[1] = 1.5
    it.params.decoder[0].cross_attention.w_k[3, 4] = 2.0
    it.params.output.bias[7] = -0.5
    it.mask = causal_mask(3) | np.eye(3, k=1, dtype=bool)
    return it


CELLS_CHANGED = {  # sheet and block: rows and columns, and what is typed there
    ("1 Embedding", "words"): {(0, 0): "World", (1, 0): "Hello"},
    ("1 Embedding", "table"): {(0, 1): 2.5, (1, 2): -4.25},
    ("2 Positions", "positions"): {(0, 0): "published"},
    ("3 Head 1", "divisor"): {(0, 0): 30.0},
    ("7 Feed-forward", "b₁"): {(0, 2): 0.75},
    ("8 Memory", "γ"): {(0, 1): 1.5},
    ("9 Target", "words′"): {(1, 0): "mundo", (2, 0): "hello"},
    ("10 Mask", "M"): {(0, 1): 1, (1, 2): 1},
    ("16 Cross head 2", "WK₂″"): {(3, 1): 2.0},
    ("21 Logits", "bout"): {(0, 7): -0.5},
}


def by_toytf(it):
    """The arrays of `toytf` by the sheet and the name of the block that must show them."""
    out = {}
    encoder, decoder = it.params.encoder[0], it.params.decoder[0]

    def look_up(sheet, mark, table, words, vocabulary):
        ids = [vocabulary.index(word) for word in words]
        out[sheet, "one-hot"] = np.eye(len(vocabulary))[ids]
        out[sheet, f"E{mark}"] = embedding(table, ids)
        return out[sheet, f"E{mark}"]

    def attend(first, tabs, p, x, memory, mark, mask=None):
        z, trace = multi_head_attention(p, x, memory, n_heads=2, mask=mask, scale=1 / it.divisor)
        made = trace.attention
        for h, tab in enumerate(tabs[:2]):
            sheet, name = f"{first + h} {tab}", f"{'₁₂'[h]}{mark}"
            scaled = made.scaled_scores[h]
            seen = scaled if mask is None else np.where(mask, scaled, -np.inf)
            powers = np.exp(seen - seen.max(axis=1, keepdims=True))
            out[sheet, f"Q{name}"], out[sheet, f"K{name}"], out[sheet, f"V{name}"] = made.q[h], made.k[h], made.v[h]
            out[sheet, f"S{name}"], out[sheet, f"scaled{name}"] = made.q[h] @ made.k[h].T, scaled
            if mask is not None:
                out[sheet, f"masked{name}"] = seen
            out[sheet, "m"], out[sheet, "sum"] = seen.max(axis=1), powers.sum(axis=1)
            out[sheet, "powers"], out[sheet, f"A{name}"] = powers, made.attn_weights[h]
            out[sheet, f"head{name}"] = made.attn_weights[h] @ made.v[h]
        both = f"{first + 2} {tabs[2]}"
        out[both, f"heads{mark}"], out[both, f"Z{mark}"] = trace.heads, z
        return z

    def norm(sheet, name, p, x, inner):
        result, trace = layer_norm(p, x + inner, journey.cfg.eps)
        mean = (x + inner).mean(axis=1, keepdims=True)
        out[sheet, "sum"], out[sheet, "μ"], out[sheet, "sum − μ"] = x + inner, mean, x + inner - mean
        out[sheet, "σ²"], out[sheet, "√(σ² + ε)"] = (x + inner).var(axis=1), trace.std
        out[sheet, name] = result
        return result

    def feed(sheet, mark, p, x):
        result, trace = feed_forward(p, x)
        out[sheet, f"before{mark}"], out[sheet, f"hidden{mark}"] = trace.before, trace.hidden
        out[sheet, f"F{mark}"] = result
        return result

    e = look_up("1 Embedding", "", it.params.src_embedding, it.source, list(journey.source))
    places, columns = "2 Positions", np.arange(4)
    out[places, "d"], out[places, "j"], out[places, "i"] = 4, columns, columns // 2
    out[places, "10000^(2i/d)"], out[places, "10000^(2j/d)"] = 100.0 ** (columns // 2), 100.0**columns
    out[places, "as in the paper"], out[places, "j for i"] = sinusoids(3, 4), sinusoids_column_as_i(3, 4)
    published = np.vstack([POSITIONS_PRINTED, sinusoids_column_as_i(3, 4)[2:]])
    pe = {"paper": sinusoids(3, 4), "published": published, "none": np.zeros((3, 4))}[it.positions]
    out[places, "PE"], out[places, "X"] = pe, e + pe[:2]
    x = e + pe[:2]
    out["3 Head 1", "d_k"] = 3
    z = attend(3, ("Head 1", "Head 2", "Both heads"), encoder.self_attention, x, x, "")
    u = norm("6 Add and norm", "U", encoder.norm_1, x, z)
    f = feed("7 Feed-forward", "", encoder.feed_forward, u)
    memory = norm("8 Memory", "memory", encoder.norm_2, u, f)

    y = look_up("9 Target", "′", it.params.tgt_embedding, it.target, journey.words) + pe
    out["9 Target", "Y"] = y
    tabs = ("Masked head 1", "Masked head 2", "Both masked heads")
    z = attend(11, tabs, decoder.self_attention, y, y, "′", it.mask)
    y = norm("14 Add and norm", "Y′", decoder.norm_1, y, z)
    z = attend(15, ("Cross head 1", "Cross head 2", "Both cross heads"), decoder.cross_attention, y, memory, "″")
    y = norm("18 Add and norm", "Y″", decoder.norm_2, y, z)
    f = feed("19 Feed-forward", "′", decoder.feed_forward, y)
    y = norm("20 Add and norm", "Y‴", decoder.norm_3, y, f)
    logits, last = linear(it.params.output, y), "22 Probabilities"
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    out["21 Logits", "logits"], out[last, "m"], out[last, "powers"] = logits, logits.max(axis=1), powers
    out[last, "sum"], out[last, "p"] = powers.sum(axis=1), softmax(logits)
    out[last, "next word"] = np.array(journey.words, dtype=object)[logits.argmax(axis=1)]
    return out


# ---------------------------------------------------------------- reading a file


def typed(file, book, cells):
    """The file with other inputs, saved by openpyxl, which keeps no results: who opens it has to compute."""
    workbook = openpyxl.load_workbook(io.BytesIO(file))
    for (sheet, name), values in cells.items():
        block = book[sheet].blocks[name]
        for at, value in values.items():
            workbook[sheet][block[at]] = value
    saved = io.BytesIO()
    workbook.save(saved)
    return saved.getvalue()


def stored(file):
    """Read the results that stand in a file, a cell at a time."""
    workbook = openpyxl.load_workbook(io.BytesIO(file), data_only=True)
    return lambda sheet, cell: workbook[sheet][cell].value


class Formulas:
    """A file computed by the package `formulas`."""

    def __init__(self, file, folder):
        import formulas

        path = folder / "computed.xlsx"
        path.write_bytes(file)
        self.model = formulas.ExcelModel().loads(str(path)).finish()

    def compute(self, book, cells):
        """Read the results with these inputs, a cell at a time."""
        inputs = {
            self._name(sheet, book[sheet].blocks[name][at]): value
            for (sheet, name), values in cells.items()
            for at, value in values.items()
        }
        found = self.model.calculate(inputs=inputs)
        return lambda sheet, cell: found[self._name(sheet, cell)].value[0, 0]

    def _name(self, sheet, cell):
        return f"'[computed.xlsx]{sheet.upper()}'!{cell}"


def soffice():
    return shutil.which("soffice") or shutil.which("libreoffice")


def by_libreoffice(file, folder, kind="xlsx"):
    """A file opened by LibreOffice and saved again."""
    (folder / "in").mkdir(exist_ok=True)
    path = folder / "in" / "sheets.xlsx"
    path.write_bytes(file)
    command = [soffice(), f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"]
    command += ["--convert-to", kind, "--outdir", str(folder), str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    made = folder / f"sheets.{kind}"
    assert made.exists(), done.stdout + done.stderr
    return made.read_bytes()


# ---------------------------------------------------------------- comparing


def computed_blocks(book):
    """Every block that is computed where it stands, as (sheet, name) and block."""
    for page in book.pages:
        for name, block in page.blocks.items():
            if page.cells[block.top, block.left].kind in ("computed", "handed on"):
                yield (page.name, name), block


def differs(found, right):
    if isinstance(right, str):
        return found != right
    if right == -np.inf:
        return found != HIDDEN
    return isinstance(found, str) or not abs(found - right) <= 1e-12 * max(1, abs(right))


def problems(book, read, right):
    """The cells of computed blocks that do not show what is right, and the blocks of which it is not known."""
    wrong = []
    for (sheet, name), block in computed_blocks(book):
        if (sheet, name) not in right:
            wrong.append(f"{sheet}: {name} is not compared")
            continue
        for at, value in zip(np.ndindex(block.result.shape), np.ravel(right[sheet, name]), strict=True):
            if differs(found := read(sheet, block[at]), value):
                wrong.append(f"{sheet}, {name}, {block[at]}: {found} in place of {value}")
    return wrong
