"""Sphinx's settings for the pages that build.py writes; it calls Sphinx itself."""

import symplectree

project, author, release = "Symplectree", "The Symplectree authors", symplectree.__version__
copyright = "The Symplectree authors, BSD-3-Clause"
extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"Symplectree {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sphinx = False
templates_path = []
exclude_patterns = ["_static"]
pygments_style, pygments_dark_style = "friendly", "native"
