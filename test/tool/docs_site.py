#!/usr/bin/env python3
"""Builds the documentation as a site, and looks for what is wrong with it.

    docs_site.py PROJECT SITE

PROJECT has mkdocs.yml. Looked for are warnings of MkDocs; pages of docs/ that no menu leads to;
links that lead nowhere, in the site and on GitHub; what is loaded from another host; and pages
that do not look as on GitHub: a list that MkDocs takes for text, say, since its Markdown is not
GitHub's.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "wbr"}
# What a reader sees a page by. Paragraphs are left out: both have them, and in lists not alike.
SHOWN = {"h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "table", "tr", "th", "td",
         "blockquote", "strong", "em", "code", "img", "hr", "a"}
LOADS = {"script", "img", "iframe", "source", "audio", "video", "embed", "object"}
GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])


class Html(HTMLParser):
    """What a page has: links, anchors, what it loads, and its parts as a reader sees them."""

    def __init__(self, text: str, whole: bool) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.headings: list[str] = []
        self.parts: list[str] = []
        self.open: list[tuple[str, bool]] = []
        # The text of the page, without menus. The other side is nothing else.
        self.inside = 0 if whole else 1
        self.words: list[str] = []
        self.feed(text)
        self.close()
        self.end_words()

    def within(self, *tags: str) -> bool:
        return any(tag in tags for tag, _ in self.open)

    def end_words(self) -> None:
        text = "".join(self.words)
        self.words = []
        if self.within("pre"):
            self.parts += [line.rstrip() for line in text.splitlines() if line.strip()]
        elif text.split():
            self.parts.append(" ".join(text.split()))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        have = {name: value or "" for name, value in attributes}
        if "id" in have:
            self.ids.add(have["id"])
        if tag == "a" and have.get("href"):
            self.links.append(have["href"])
        for name in ["src", "data", "poster"]:
            if tag in LOADS and have.get(name):
                self.loads.append(have[name])
        if tag == "link" and have.get("rel") not in {"prev", "next", "canonical", "alternate"}:
            self.loads.append(have.get("href", ""))
        if tag == "article":
            self.inside += 1
        # MkDocs puts an anchor beside each heading, and one before each line of code.
        extra = "headerlink" in have.get("class", "") or (tag == "a" and "href" not in have)
        in_code = self.within("pre") and tag in {"code", "a"}
        if self.inside and tag in SHOWN and not extra and not in_code:
            self.end_words()
            if re.fullmatch("h[1-6]", tag):
                self.headings.append("")
            self.parts.append(f"<{tag}>")
        if tag not in VOID:
            self.open.append((tag, extra))

    def handle_endtag(self, tag: str) -> None:
        if tag in SHOWN and not (self.within("pre") and tag in {"code", "a"}):
            self.end_words()
        while self.open and any(each == tag for each, _ in self.open):
            if self.open.pop()[0] == tag:
                break
        if tag == "article":
            self.inside -= 1

    def handle_data(self, data: str) -> None:
        if self.inside and not any(extra for _, extra in self.open):
            self.words.append(data)
            if self.headings and self.within("h1", "h2", "h3", "h4", "h5", "h6"):
                self.headings[-1] += data


def anchors(page: Html) -> set[str]:
    """Those that GitHub gives to the headings."""
    found: set[str] = set()
    for heading in page.headings:
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number = sum(re.fullmatch(re.escape(name) + r"(-\d+)?", each) is not None
                     for each in found)
        found.add(f"{name}-{number}" if number else name)
    return found


def split(link: str) -> tuple[str, str]:
    path, _, anchor = link.partition("#")
    return unquote(path.partition("?")[0]), unquote(anchor)


def is_elsewhere(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc or parts.scheme)


class Site:
    def __init__(self, project: Path, site: Path) -> None:
        self.project, self.site = project, site
        self.docs = project / "docs"
        self.pages: dict[Path, Html] = {}
        self.sources: dict[Path, Html] = {}

    def build(self) -> Iterator[str]:
        """A file of the configuration that is wrong ends the test here."""
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--config-file",
             self.project / "mkdocs.yml", "--site-dir", self.site],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=dict(os.environ, NO_MKDOCS_2_WARNING="1"))
        warned = re.findall(r"^(?:WARNING|ERROR) .*(?:\n(?!INFO|WARNING|ERROR|Aborted).+)*",
                            done.stdout, re.M)
        yield from warned
        if done.returncode != 0 and not warned:
            yield done.stdout
        if not (self.site / "index.html").exists():
            sys.exit(f"mkdocs has not built a site:\n{done.stdout}")
        for path in sorted(self.site.rglob("*.html")):
            # Made for servers that show it wherever something is missing.
            if path != self.site / "404.html":
                self.pages[path] = Html(path.read_text(), whole=True)
        for path in [self.project / "CONTRIBUTING.md", *sorted(self.docs.rglob("*.md"))]:
            self.sources[path] = Html(GITHUB.render(path.read_text()), whole=False)

    def built(self, source: Path) -> Path:
        inside = source.relative_to(self.docs if self.docs in source.parents else self.project)
        name = "index" if source.name == "README.md" else source.stem
        return self.site / inside.parent / f"{name}.html"

    def outside_the_menu(self) -> Iterator[str]:
        front = self.site / "index.html"
        listed = {(self.site / split(link)[0]).resolve() for link in self.pages[front].links
                  if not is_elsewhere(link)}
        for source in self.sources:
            if self.built(source).resolve() not in listed:
                yield f"{source.relative_to(self.project)} is not in the menu of mkdocs.yml"

    def dead_links(self) -> Iterator[str]:
        ids = {path.resolve(): page.ids for path, page in self.pages.items()}
        for path, page in self.pages.items():
            for link in sorted({*page.links, *page.loads}):
                name, anchor = split(link)
                if is_elsewhere(link):
                    continue
                goal = (path.parent / name).resolve() if name else path.resolve()
                if not goal.is_file():
                    yield f"{path.relative_to(self.site)}: {link} leads nowhere"
                elif anchor and anchor not in ids.get(goal, set()):
                    yield f"{path.relative_to(self.site)}: {link} has no such anchor"

    def dead_on_github(self) -> Iterator[str]:
        for path, page in self.sources.items():
            for link in sorted(set(page.links)):
                if is_elsewhere(link):
                    continue
                name, anchor = split(link)
                goal = Path(os.path.normpath(path.parent / name)) if name else path
                if not goal.exists():
                    yield f"{path.relative_to(self.project)}: {link} leads nowhere on GitHub"
                elif anchor and goal in self.sources and \
                        anchor not in anchors(self.sources[goal]):
                    yield (f"{path.relative_to(self.project)}: {link} has no such anchor on "
                           "GitHub")

    def from_elsewhere(self) -> Iterator[str]:
        for path, page in self.pages.items():
            for link in sorted(set(page.loads)):
                if is_elsewhere(link) and not link.startswith("data:"):
                    yield f"{path.relative_to(self.site)} loads {link}"
            if "mermaid" in path.read_text():
                yield f"{path.relative_to(self.site)}: what draws Mermaid comes from elsewhere"
        for path in sorted(self.site.rglob("*.css")):
            for link in re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)",
                                   path.read_text()):
                yield f"{path.relative_to(self.site)} loads {link}"

    def unlike_github(self) -> Iterator[str]:
        for path, page in self.sources.items():
            built = self.pages.get(self.built(path))
            if built is None or built.parts == page.parts:
                continue
            difference = list(difflib.unified_diff(page.parts, built.parts, "GitHub", "site",
                                                   lineterm="", n=2))
            yield "\n".join([f"{path.relative_to(self.project)} is shown otherwise than on GitHub",
                             *difference[:20]])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("site", type=Path)
    arguments = parser.parse_args()
    site = Site(arguments.project.resolve(), arguments.site.resolve())
    problems = 0
    for what, found in [
            ("warnings", site.build()), ("outside of the menu", site.outside_the_menu()),
            ("dead links", site.dead_links()), ("dead links on GitHub", site.dead_on_github()),
            ("loaded from elsewhere", site.from_elsewhere()),
            ("unlike GitHub", site.unlike_github())]:
        told = list(found)
        problems += len(told)
        print(f"{what}: {len(told)}")
        for problem in told:
            print(f"  {problem}")
    links = sum(len(set(page.links)) for page in site.pages.values())
    print(f"{len(site.sources)} pages, {len(site.pages)} in the site with {links} links, "
          f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
