#!/usr/bin/env python3
"""What PyPI would show of a wheel, and what it would refuse that `twine check` does not look at:
classifiers that it does not know, and links of the description that lead nowhere there.

usage: wheel_metadata.py WHEEL

Needs readme-renderer, PyPI's own, and trove-classifiers (package-requirements.txt).
"""

import email
import sys
import zipfile
from html.parser import HTMLParser

from readme_renderer import markdown
from trove_classifiers import classifiers, deprecated_classifiers


class Links(HTMLParser):
    """What a page links to or shows."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit((__doc__ or "").strip())
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(wheel.read(name))
    errors = []
    for field in ["Name", "Version", "Summary", "Keywords", "Author", "License-Expression",
                  "License-File", "Classifier", "Requires-Python"]:
        print(f"{field}: {', '.join(metadata.get_all(field, []))}")
        if not metadata.get(field):
            errors.append(f"there is no {field}")
    for classifier in metadata.get_all("Classifier", []):
        if classifier in deprecated_classifiers:
            errors.append(f"the classifier '{classifier}' is no longer used")
        elif classifier not in classifiers:
            errors.append(f"PyPI knows no classifier '{classifier}'")
    page = markdown.render(bytes(metadata.get_payload(decode=True)).decode("utf-8"))
    if not page:
        sys.exit("error: the description cannot be rendered")
    links = Links()
    links.feed(page)
    errors += [f"the link to '{link}' leads nowhere on PyPI" for link in links.found
               if not link.startswith(("https://", "#"))]
    print(f"Description: {len(page)} characters, {len(links.found)} links")
    for error in errors:
        print(f"error: {error}")
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
