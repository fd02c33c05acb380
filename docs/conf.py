"""Sphinx's settings for the documentation's site; `python -m docs.build` builds it whole."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.site import sphinx_parts
from workbench import __version__

project = "Contact formulation workbench"
author = "its authors"
project_copyright = "its authors, Apache-2.0"
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["notebooks/**/*.md", "site/**"]
nitpicky = True
# Annotations name types of other packages, and some that `import workbench as wb` does not offer.
nitpick_ignore_regex = [("py:.*", ".*")]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 88
add_module_names = False

myst_heading_anchors = 3
myst_enable_extensions = ["attrs_block"]

html_theme = "furo"
html_title = project
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_math_renderer = "mathml"
# Summaries would be fetched, which browsers refuse to pages that lie on a disk.
html_show_search_summary = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app):
    sphinx_parts.connect(app)
