"""Settings of Sphinx: `sphinx-build . out` builds the book.

Made from _config.yml by `make conf.py`: edit that, and make this again.
"""
# ruff: noqa
# fmt: off

import sys
from pathlib import Path

# the book's own extensions
sys.path.insert(0, str(Path(__file__).resolve().parent / "book" / "_ext"))

add_module_names = False
author = 'the toytf authors'
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'
comments_config = {'hypothesis': False, 'utterances': False}
copyright = '2026'
default_role = 'py:obj'
exclude_patterns = ['**.ipynb_checkpoints',
 '**/.ipynb_checkpoints',
 '.*',
 '.*/**',
 '.DS_Store',
 'CONTRIBUTING.md',
 'README.md',
 'Thumbs.db',
 '_build',
 'book/chapters',
 'book/pages',
 'requirements',
 'tests',
 'toytf']
exercise_style = 'solution_follow_exercise'
extensions = ['myst_nb',
 'jupyter_book',
 'sphinx_external_toc',
 'sphinx_exercise',
 'toytf_site',
 'toytf_address',
 'toytf_formulas',
 'toytf_panels',
 'toytf_live',
 'toytf_answers',
 'toytf_figures',
 'toytf_cells',
 'toytf_code',
 'toytf_download',
 'toytf_moved',
 'toytf_numbers',
 'sphinx.ext.autodoc',
 'numpydoc',
 'toytf_api',
 'sphinx_jupyterbook_latex',
 'sphinx_multitoc_numbering']
external_toc_exclude_missing = True
external_toc_path = '_toc.yml'
html_baseurl = ''
html_domain_indices = False
html_favicon = 'book/_assets/logo.svg'
html_js_files = [['toytf.js', {'defer': 'defer'}], ['code.js', {'defer': 'defer'}]]
html_logo = 'book/_assets/logo.svg'
html_search_scorer = 'book/_assets/toytf_scorer.js'
html_sourcelink_suffix = ''
html_static_path = ['book/_assets']
html_style = 'toytf.css'
html_theme = 'furo'
html_theme_options = {'top_of_page_buttons': ['view']}
html_title = 'The Transformer, Number by Number'
html_use_index = False
language = 'en'
latex_engine = 'pdflatex'
myst_enable_extensions = ['amsmath',
 'attrs_block',
 'attrs_inline',
 'colon_fence',
 'deflist',
 'dollarmath',
 'html_image',
 'tasklist']
myst_heading_anchors = 4
myst_url_schemes = ['mailto', 'http', 'https']
nb_execution_allow_errors = False
nb_execution_cache_path = ''
nb_execution_excludepatterns = []
nb_execution_in_temp = False
nb_execution_mode = 'off'
nb_execution_timeout = 30
nb_merge_streams = True
nb_output_stderr = 'show'
nb_render_markdown_format = 'myst'
nitpick_ignore_regex = [['py:class', 'Array|numpy\\..*|collections\\.abc\\..*|pathlib\\..*'],
 ['py:class', '.*\\._Beside|.*\\.Spine']]
numfig = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
pygments_style = 'sphinx'
suppress_warnings = ['myst.domains']
templates_path = ['book/_templates']
toc_object_entries_show_parents = 'hide'
toytf_moved = {'book/coverage': 'book/published',
 'book/errata': 'book/published',
 'book/errata#e0-': 'book/replay_random_transformer',
 'book/errata#e1-': 'book/replay_illustrated_transformer',
 'book/errata#e2-': 'book/replay_shape_sheet',
 'book/errata#e3-': 'book/replay_pytorch_post',
 'book/errata#e4-': 'book/replay_notes',
 'notebooks/18_taking_apart#does-it-understand': 'notebooks/19_new_sentences',
 'notebooks/18_taking_apart#ex-18-10': 'notebooks/19_new_sentences#ex-19-2',
 'notebooks/18_taking_apart#ex-18-9': 'notebooks/18_taking_apart#ex-18-7',
 'notebooks/18_taking_apart#how-many-sentences-it-takes': 'notebooks/19_new_sentences',
 'notebooks/18_taking_apart#new-combinations': 'notebooks/19_new_sentences',
 'notebooks/18_taking_apart#one-adjective-more': 'notebooks/19_new_sentences',
 'notebooks/19_pytorch': 'notebooks/20_pytorch',
 'notebooks/19_pytorch#ex-19-': 'notebooks/20_pytorch#ex-20-',
 'notebooks/19_pytorch#sol-19-': 'notebooks/20_pytorch#sol-20-',
 'notebooks/20_full_size': 'notebooks/21_costs',
 'notebooks/20_full_size#ex-20-1': 'notebooks/21_costs#ex-21-1',
 'notebooks/20_full_size#ex-20-10': 'notebooks/21_costs#ex-21-9',
 'notebooks/20_full_size#ex-20-11': 'notebooks/21_costs#ex-21-7',
 'notebooks/20_full_size#ex-20-2': 'notebooks/21_costs#ex-21-2',
 'notebooks/20_full_size#ex-20-3': 'notebooks/22_today#ex-22-2',
 'notebooks/20_full_size#ex-20-4': 'notebooks/21_costs#ex-21-3',
 'notebooks/20_full_size#ex-20-5': 'notebooks/21_costs#ex-21-4',
 'notebooks/20_full_size#ex-20-6': 'notebooks/22_today#ex-22-5',
 'notebooks/20_full_size#ex-20-7': 'notebooks/22_today#ex-22-3',
 'notebooks/20_full_size#ex-20-8': 'notebooks/21_costs#ex-21-5',
 'notebooks/20_full_size#ex-20-9': 'notebooks/21_costs#ex-21-6',
 'notebooks/20_full_size#the-same-in-bert-and-gpt': 'notebooks/22_today#three-families-from-our-parts',
 'notebooks/20_full_size#three-families-from-our-parts': 'notebooks/22_today',
 'notebooks/20_full_size#what-changed-since-2017': 'notebooks/22_today'}
use_jupyterbook_latex = True
use_multitoc_numbering = True
