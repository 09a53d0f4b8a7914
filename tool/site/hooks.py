"""What MkDocs is told beside mkdocs.yml: how links that leave docs/ go on in the site.

On GitHub a page links to sources, folders and CONTRIBUTING.md by relative paths. The site has
a page for each of these, so that such links are valid in both, and no address of a repository
is needed. The pages are made from the links: nothing is listed twice.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

# Of the project that has mkdocs.yml: a test builds a copy.
DOCS = "docs"
# Pages of the menu that do not lie in docs/.
CONTRIBUTING = "CONTRIBUTING.md"
SOURCES = "source"
# The targets of links; C++ in code has lambdas, which look the same.
LINK = re.compile(r"^(?P<fence> *```+).*?^(?P=fence)$|`[^`\n]+`"
                  r"|(?<=\]\()(?P<link>[^)\s#]+)(?=(?:#[^)\s]*)?\))", re.M | re.S)
CONSOLE = re.compile(r'<div class="language-console.*?</div>', re.S)
LANGUAGES = {".cpp": "cpp", ".h": "cpp", ".py": "python", ".json": "json", ".yml": "yaml",
             ".sh": "sh", ".txt": "text"}


def root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).resolve().parent


def target(project: Path, page: str, link: str) -> str | None:
    """The file or folder of the project that a page's link leads to; None where it leads to
    none, as what looks like a link in code does."""
    if "://" in link or link.startswith(("/", "mailto:")):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    return path if not path.startswith("..") and (project / path).exists() else None


def place(project: Path, path: str) -> str:
    """Where the site has a file or folder of the project."""
    if path.startswith(DOCS + "/"):
        return posixpath.relpath(path, DOCS)
    if path == CONTRIBUTING:
        return CONTRIBUTING
    if (project / path).is_dir():
        return f"{SOURCES}/{path}/index.md"
    return f"{SOURCES}/{path}" + ("" if path.endswith(".md") else ".md")


def rewritten(project: Path, page: str, text: str) -> str:
    """The text of a page of the project with links that are right in the site."""
    here = posixpath.dirname(place(project, page))

    def link(match: re.Match[str]) -> str:
        found = target(project, page, match["link"]) if match["link"] else None
        if found is None:
            return match[0]
        return quote(posixpath.relpath(place(project, found), here or "."))

    return LINK.sub(link, text)


def below(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield Path(parent, name).relative_to(folder).as_posix()


def text_of(project: Path, path: str) -> str:
    """A page that shows a file or a folder."""
    file = project / path
    # Who searches the site looks for what is explained, not for each line of a source.
    head = "---\nsearch: {exclude: true}\n---\n"
    if file.is_dir():
        lines = [f"- [{name}]({quote(name)}{'' if name.endswith('.md') else '.md'})"
                 for name in below(file)]
        return f"{head}# {path}\n\n" + "\n".join(lines) + "\n"
    text = file.read_text()
    if path.endswith(".md"):
        return head + rewritten(project, path, text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{head}# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text}{fence}\n"


def linked(project: Path, pages: list[str]) -> list[str]:
    """What lies outside of docs/ and the pages lead to, over several links too."""
    found: dict[str, None] = {}
    waiting = list(pages)
    while waiting:
        page = waiting.pop()
        for match in LINK.finditer((project / page).read_text()):
            path = target(project, page, match["link"]) if match["link"] else None
            if path is None or path.startswith(DOCS + "/") or path in found:
                continue
            found[path] = None
            inside = [f"{path}/{name}" for name in below(project / path)]
            found.update(dict.fromkeys(inside))
            waiting += [each for each in [path, *inside]
                        if each.endswith(".md") and (project / each).is_file()]
    found.pop(CONTRIBUTING, None)
    return list(found)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    project = root(config)
    pages = [f"{DOCS}/{file.src_uri}" for file in files if file.is_documentation_page()]
    contributing = rewritten(project, CONTRIBUTING, (project / CONTRIBUTING).read_text())
    files.append(File.generated(config, CONTRIBUTING, content=contributing))
    for path in linked(project, [*pages, CONTRIBUTING]):
        files.append(File.generated(config, place(project, path),
                                    content=text_of(project, path),
                                    inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.file.generated_by:
        return markdown
    return rewritten(root(config), f"{DOCS}/{page.file.src_uri}", markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Of what programs print, findings have long lines, and reports have columns: site.css
    breaks the former only."""
    return CONSOLE.sub(lambda block: block[0].replace("language-console",
                                                      "language-console messages", 1)
                       if ": warning: " in block[0] else block[0], html)
