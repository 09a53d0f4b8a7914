"""Opens pages of torch-confirm report in a browser and looks at what they do.

    report_page.py --browser PROGRAM --report-page PROGRAM --samples FOLDER --output FOLDER

Each page is used as a reader would: pointed at, clicked, gone through by the keyboard,
made narrow, dark, and printed. A page must write nothing to the console and ask for
nothing from anywhere. Pictures of all that are left in the output folder.
"""

import argparse
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

SAMPLES = ["growth", "level", "cuda", "large", "few", "one", "empty", "evil"]


class Reader:
    def __init__(self, browser: Browser, pages: Path, output: Path) -> None:
        self.browser, self.pages, self.output = browser, pages, output

    @contextmanager
    def opened(self, name: str, width: int = 1280, dark: bool = False) -> Iterator[Page]:
        """A page that is open; at the end nothing may have gone wrong in it."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light")
        page = context.new_page()
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append("dialog " + dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((self.pages / f"{name}.html").as_uri())
        page.wait_for_selector("footer")
        yield page
        assert not said, f"{name}: {said}"
        # An empty icon, so that a browser asks for none.
        others = [url for url in asked if not url.startswith(("file:", "data:"))]
        assert len(asked) - len([url for url in asked if url.startswith("data:")]) == 1, asked
        assert not others, others
        context.close()

    def picture(self, page: Page, name: str) -> bytes:
        return page.screenshot(path=self.output / f"{name}.png", full_page=True)


def colours(page: Page, plot: int) -> int:
    """How many colours there are in the canvas of a plot: a blank one has one."""
    return int(page.evaluate("""plot => {
        const canvas = document.querySelectorAll('.plot canvas')[plot];
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    }""", plot))


def words(page: Page, selector: str) -> str:
    return page.inner_text(selector).replace("\u00a0", " ")


def frames(page: Page) -> list[str]:
    return [str(each.get_attribute("aria-label")).replace("\u00a0", " ")
            for each in page.query_selector_all("g.frame")]


def widths(page: Page) -> list[float]:
    return [float(each.get_attribute("width") or 0)
            for each in page.query_selector_all("g.frame rect")]


def column(page: Page, table: str, index: int) -> list[str]:
    return page.eval_on_selector_all(
        f"{table} tbody tr td:nth-child({index})", "cells => cells.map(cell => cell.innerText)")


def top_says_why(reader: Reader) -> None:
    with reader.opened("growth") as page:
        assert "train.cpp:10" in words(page, "h1")
        first = words(page, ".cause >> nth=0")
        for part in ["train.cpp:10", "Trainer::run", "+6.40", "Grew by", "94",
                     "total += loss;", "torch-retained-graph", "loss.detach()"]:
            assert part in first, (part, first)
        assert "Graph nodes at most" in words(page, "header#top")
        assert words(page, ".source .here").strip().endswith("total += loss;")
        assert len(page.query_selector_all(".cause")) == 2
        reader.picture(page, "growth-light")
    with reader.opened("level") as page:
        assert not page.query_selector_all(".cause")
        assert words(page, "h1").startswith("No growth")


def curves_are_drawn(reader: Reader) -> None:
    with reader.opened("cuda") as page:
        assert "no memory was left" in words(page, "header#top")
        legend = words(page, ".plots")
        for name in ["process", "reserved", "CUDA tensors", "CPU tensors", "graph nodes"]:
            assert name in legend, (name, legend)
        assert colours(page, 0) > 20 and colours(page, 1) > 10
        reader.picture(page, "cuda-light")
    with reader.opened("growth") as page:
        assert "zoom in" in words(page, ".bands")
        for _ in range(4):
            page.click("button[aria-label^='Zoom in']")
        assert words(page, ".bands").split() == ["data", "and", "forward", "backward", "step"]
        reader.picture(page, "growth-zoomed")
        # By the mouse too, and back.
        page.click("text=Whole run")
        assert "zoom in" in words(page, ".bands")
        box = page.locator(".plot .u-over").first.bounding_box()
        assert box
        page.mouse.move(box["x"] + 100, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + 160, box["y"] + 50, steps=4)
        page.mouse.up()
        assert "backward" in words(page, ".bands")


def slider_moves_the_flame_graph(reader: Reader) -> None:
    with reader.opened("growth") as page:
        assert any(text.startswith("Trainer::run  train.cpp:10: 1.5") for text in frames(page))
        assert "the peak" in words(page, "output.moment")
        before, picture = widths(page), reader.picture(page, "moved")
        canvas = page.locator(".plot canvas").first.screenshot()
        page.focus("#moment")
        for _ in range(30):
            page.keyboard.press("ArrowLeft")
        assert page.eval_on_selector("#moment", "slider => Number(slider.value)") == 29
        assert "after 116 iterations" in words(page, "output.moment"), \
            words(page, "output.moment")
        assert widths(page) != before and page.screenshot(full_page=True) != picture
        # The curves show where it stands.
        assert page.locator(".plot canvas").first.screenshot() != canvas
        page.keyboard.press("Home")
        assert not any("train.cpp:10: 1.5" in text for text in frames(page))
        page.click(".slider >> text=Peak")
        assert any("train.cpp:10: 1.5" in text for text in frames(page))
        # A click into the curves is the other way to it.
        page.locator(".plot .u-over").first.click(position={"x": 300, "y": 60})
        assert 5 < page.eval_on_selector("#moment", "slider => Number(slider.value)") < 40


def measures_differ(reader: Reader) -> None:
    with reader.opened("growth") as page:
        all_bytes = frames(page)[0]
        page.click("[data-measure=nodes]")
        assert re.match(r"all: [\d,]+ nodes", frames(page)[0]), frames(page)[0]
        assert any(text.startswith("Trainer::run  train.cpp:10: 8,6") for text in frames(page))
        page.click("[data-measure=growth]")
        grown = frames(page)
        assert grown[0] != all_bytes and any("train.cpp:10: 1.4" in text for text in grown), grown
        # What was there after the first step has not grown.
        assert not any("BlockImpl::BlockImpl" in text for text in grown)
    with reader.opened("cuda") as page:
        page.click("[data-measure=cuda]")
        assert not any("train.cpp:10" in text for text in frames(page))
        page.click("[data-measure=cpu]")
        assert any("train.cpp:10" in text for text in frames(page))


def flame_graph_by_keyboard(reader: Reader) -> None:
    with reader.opened("growth") as page:
        focused = "() => document.activeElement.getAttribute('aria-label')"
        page.locator("g.frame").first.focus()
        for expected in ["main  main.cpp:31", "Trainer::run  train.cpp:10", "aten::add_"]:
            page.keyboard.press("ArrowDown")
            assert page.evaluate(focused).startswith(expected), page.evaluate(focused)
            assert words(page, ".details").startswith(expected.split()[0])
        assert "activations" in words(page, ".details")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowRight")
        assert not page.evaluate(focused).startswith("Trainer::run  train.cpp:10")
        narrow = min(widths(page))
        page.keyboard.press("Enter")
        zoomed = len(frames(page))
        # It stays zoomed while the slider moves.
        page.focus("#moment")
        page.keyboard.press("ArrowLeft")
        assert len(frames(page)) < zoomed * 2
        page.locator("g.frame").first.focus()
        page.keyboard.press("Escape")
        assert min(widths(page)) <= narrow + 1


def what_only_a_device_has(reader: Reader) -> None:
    """And what the activations of the peak were for."""
    with reader.opened("cuda") as page:
        assert column(page, "#activations-cuda table", 1) == ["net::BlockImpl", "net::HeadImpl"]
        assert column(page, "#varying-cuda table", 2) == ["9"]
        assert "Device 0 ran no kernel\n63 % of 17.5 s" in words(page, ".facts"), \
            words(page, ".facts")
    with reader.opened("growth") as page:
        assert not page.query_selector("#varying-cpu")
        assert "no kernel" not in words(page, ".facts")


def tables_sort(reader: Reader) -> None:
    with reader.opened("large") as page:
        table = "#memory table"
        assert column(page, table, 1)[0].startswith("train.cpp:10")
        shown = len(column(page, table, 1))
        assert shown < 20
        page.click("#memory button.more")
        assert len(column(page, table, 1)) > 700
        head = page.locator(f"{table} th").first
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        up = column(page, table, 1)
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert column(page, table, 1)[0] == up[-1]
        page.click("#memory button.more")
        calls = page.locator("#time th", has_text="Calls").locator("button")
        calls.click()
        assert column(page, "#time table", 5)[0] == "400"
        calls.click()
        assert column(page, "#time table", 5)[0] == "240"
        assert column(page, "#iterations table", 1) == ["first", "typical", "last"]
        reader.picture(page, "large-light")


def dark_and_light(reader: Reader) -> None:
    back = "() => getComputedStyle(document.body).backgroundColor"
    with reader.opened("growth") as page:
        light, picture = page.evaluate(back), page.locator(".plot canvas").first.screenshot()
        page.click("#theme")
        assert page.evaluate(back) != light
        assert page.locator(".plot canvas").first.screenshot() != picture
        switched = page.evaluate(back)
        page.click("#theme")
        assert page.evaluate(back) == light
    with reader.opened("growth", dark=True) as page:
        assert page.evaluate(back) == switched
        reader.picture(page, "growth-dark")
        # The light of a frame's text against its colour, as WCAG has it.
        assert page.evaluate("""() => {
            const light = text => {
                const [r, g, b] = text.match(/[0-9.]+/g).map(Number).map(value => {
                    const part = value / 255;
                    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            return Math.min(...[...document.querySelectorAll('g.frame')].map(frame => {
                const [a, b] = [light(getComputedStyle(frame.querySelector('rect')).fill),
                    light(getComputedStyle(frame.querySelector('div')).color)];
                return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            }));
        }""") > 4.5


def every_width_fits(reader: Reader) -> None:
    for name in SAMPLES:
        for width in [400, 1600]:
            with reader.opened(name, width) as page:
                sizes = page.evaluate(
                    "() => [document.documentElement.scrollWidth, innerWidth]")
                assert sizes[0] <= sizes[1], (name, sizes)
                reader.picture(page, f"{name}-{width}")
    with reader.opened("growth") as page:
        page.set_viewport_size({"width": 500, "height": 900})
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= 500
        box = page.locator(".plot canvas").first.bounding_box()
        assert box and box["width"] < 500


def it_prints(reader: Reader) -> None:
    with reader.opened("growth", dark=True) as page:
        file = reader.output / "growth.pdf"
        page.pdf(path=file, format="A4")
        assert file.read_bytes().startswith(b"%PDF") and file.stat().st_size > 30000
        text = subprocess.run(["pdftotext", file, "-"], text=True, check=True,
                              capture_output=True).stdout
        for part in ["train.cpp:10", "aten::add_", "CPU tensors", "encoder.12"]:
            assert part in text, part
        # And is on the screen as it was.
        assert page.evaluate("document.documentElement.dataset.theme") is None


def names_are_only_text(reader: Reader) -> None:
    with reader.opened("evil") as page:
        assert words(page, "h1") == \
            "</script><script>alert(1)</script> & <!-- {{SCRIPTS}}"
        assert page.title() == words(page, "h1")
        assert not page.query_selector_all("main img, main b b, main script")
        assert "<img src=x onerror=alert(1)>" in words(page, "main")
        assert any("</script>.cpp" in (each.get_attribute("title") or "")
                   for each in page.query_selector_all(".place"))


def little_is_enough(reader: Reader) -> None:
    with reader.opened("one") as page:
        assert page.is_hidden(".slider") and frames(page)
        assert not page.query_selector_all("[data-measure=growth]")
    with reader.opened("empty") as page:
        assert len(page.query_selector_all(".empty")) == 2
        assert "exit code 1" in words(page, "header#top")
        assert "NaN" not in words(page, "body")
    for name in SAMPLES:
        with reader.opened(name) as page:
            text = words(page, "body")
            for wrong in ["NaN", "undefined", "[object", "Infinity", "null"]:
                assert wrong not in text, (name, wrong)


TESTS = [top_says_why, curves_are_drawn, slider_moves_the_flame_graph, measures_differ,
         flame_graph_by_keyboard, what_only_a_device_has, tables_sort, dark_and_light,
         every_width_fits, it_prints, names_are_only_text, little_is_enough]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", required=True)
    parser.add_argument("--report-page", required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("tests", nargs="*", help="only these")
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    for name in SAMPLES:
        subprocess.run([arguments.report_page, arguments.samples / f"{name}.json",
                        output / f"{name}.html"], check=True)
    with sync_playwright() as playwright:
        # Tests run as root too, where its sandbox does not.
        browser = playwright.chromium.launch(executable_path=arguments.browser,
                                             args=["--no-sandbox"])
        for test in TESTS:
            if not arguments.tests or test.__name__ in arguments.tests:
                test(Reader(browser, output, output))
                print("PASS:", test.__name__, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
