#!/usr/bin/env python3
"""Opens the pages of the site of the documentation from its folder, in a wide window and in
that of a telephone.

    docs_browser.py SITE --browser FILE [--screenshots FOLDER]

Nothing may be asked of another host, no script may fail, and no page may be wider than the
window: what is wide scrolls by itself. The search finds a check by what it is about.
"""

import argparse
import re
import sys
from pathlib import Path

from playwright.sync_api import Error, Page, Request, sync_playwright

WINDOWS = [(1280, 900), (390, 844)]


def overflow(page: Page) -> str:
    """What is wider than the window, if anything is. Scripts of the page need a moment."""
    try:
        page.wait_for_function("document.scrollingElement.scrollWidth <= innerWidth",
                               timeout=3000)
        return ""
    except Error:
        return str(page.evaluate("""() =>
          [...document.querySelectorAll("article *")]
            .filter(each => each.getBoundingClientRect().right > innerWidth + 1 &&
                            !each.closest("pre, table, .md-typeset__scrollwrap"))
            .slice(0, 3).map(each => each.outerHTML.slice(0, 80)).join(", ") || "?" """))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--browser", required=True)
    parser.add_argument("--screenshots", type=Path)
    arguments = parser.parse_args()
    site = arguments.site.resolve()
    # Sources, and what servers show where something is missing, have no tables; pages of
    # checks are alike, so the largest stand for all.
    pages = sorted(path for path in site.rglob("*.html")
                   if path != site / "404.html" and site / "source" not in path.parents)
    checks = sorted((path for path in pages if re.match("torch-", path.name)
                     and path.parent == site / "checks"), key=lambda path: path.stat().st_size)
    pages = [path for path in pages if path not in checks[:-6]]
    problems: list[str] = []
    asked = 0

    def look(request: Request) -> None:
        nonlocal asked
        asked += 1
        if not request.url.startswith(("file:", "data:")):
            problems.append(f"{page.url} asks for {request.url}")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.browser,
                                             args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", look)
        page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
        for path in pages:
            page.goto(path.as_uri())
            for width, height in WINDOWS:
                page.set_viewport_size({"width": width, "height": height})
                if wide := overflow(page):
                    problems.append(f"{path.relative_to(site)} is wider than {width}: {wide}")
                if arguments.screenshots:
                    name = "-".join(path.relative_to(site).with_suffix("").parts)
                    page.screenshot(path=arguments.screenshots / f"{name}-{width}.png",
                                    full_page=True)
        page.goto((site / "index.html").as_uri() + "?q=zero_grad")
        try:
            page.wait_for_selector(".md-search-result__link[href*='torch-missing-zero-grad']",
                                   state="attached", timeout=10000)
        except Error as error:
            problems.append(f"the search does not find torch-missing-zero-grad: {error}")
        browser.close()
    print("\n".join(problems[:40]))
    print(f"{len(pages)} pages, {len(WINDOWS)} windows, {asked} files, {len(problems)} problems")
    return 1 if problems or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
