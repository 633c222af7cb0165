"""Notebooks as pages that need no network: formulas as MathML, and a link to the run's page."""

from typing import Any

from jinja2 import DictLoader, pass_context
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from wei2023.report.formulas import typeset
from wei2023.study import layout

TEMPLATE = f"""{{%- extends "classic/index.html.j2" -%}}
{{%- block html_head_js -%}}{{%- endblock -%}}
{{%- block html_head_js_mathjax -%}}{{%- endblock -%}}
{{%- block html_head_css -%}}
<style>
img, svg {{ max-width: 100%; height: auto; }}
.rendered_html table {{ display: block; overflow-x: auto; }}
@media (max-width: 40rem) {{
  div#notebook-container {{ padding: 1rem; }}
  div.prompt {{ display: none; }}
}}
</style>
{{%- endblock -%}}
{{%- block body_header -%}}
{{{{ super() }}}}
<nav><a href="../{layout.PAGE}">Back to the page of the run</a></nav>
{{%- endblock -%}}
"""


class Renderer(IPythonRenderer):
    def inline_math(self, body: str) -> str:
        return typeset(body)

    def block_math(self, body: str) -> str:
        return typeset(body, display=True)

    def latex_environment(self, name: str, body: str) -> str:
        return typeset(rf"\begin{{{name}}}{body}\end{{{name}}}", display=True)


class Exporter(HTMLExporter):
    def __init__(self) -> None:
        loader = DictLoader({"offline.html.j2": TEMPLATE})
        super().__init__(
            template_name="classic", template_file="offline.html.j2", extra_loaders=[loader]
        )

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = Renderer(
            escape=False, attachments=attachments, anchor_link_text=self.anchor_link_text
        )
        return MarkdownWithMath(renderer=renderer).render(source)
