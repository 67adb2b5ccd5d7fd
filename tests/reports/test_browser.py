"""The built pages in a real browser, opened from disk: drawn, silent, usable by keyboard, on phone and in the dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser
SIZES = [(360, "light"), (360, "dark"), (768, "dark"), (1440, "light"), (1440, "dark")]
MARKS = "document.querySelectorAll('[data-chart=\"{chart}\"] .box g.mark-{kind}.role-mark > path').length"


# Boxes drawn on the first picture: every filled block is a whole number of tiles wide and high.
BOXES = """(run) => {
  const svg = document.querySelector(`[data-picture="${run}"] svg`);
  const tile = svg.querySelector("pattern");
  const sides = ["width", "height"];
  const tiles = (block) => sides.map((side) => Math.round(block.getAttribute(side) / tile.getAttribute(side)));
  return [...svg.querySelectorAll("rect[fill^=url]")].map(tiles).reduce((sum, [wide, high]) => sum + wide * high, 0);
}"""


@pytest.fixture
def visit(browser, pages) -> Iterator[object]:
    """Opens pages; any console error, page error or request for something outside fails the test at its end."""
    trouble, contexts = [], []

    def go(name, width=1440, scheme="light", locale="en-US", **more):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            locale=locale,
            reduced_motion="reduce",
            **more,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(("file:", "data:")) else trouble.append(one.url))
        path, _, anchor = name.partition("#")
        page.goto((pages / path).as_uri() + (f"#{anchor}" if anchor else ""))
        return page

    yield go
    for context in contexts:
        context.close()
    assert trouble == []


def drawn(page):
    """Open what is folded, scroll every chart into view and wait until all are live."""
    page.evaluate("document.querySelectorAll('details.folded').forEach((one) => { one.open = true; })")
    page.evaluate("document.querySelectorAll('[data-chart]').forEach((one) => one.scrollIntoView())")
    for place in page.query_selector_all("[data-chart]"):
        place.scroll_into_view_if_needed()
        page.wait_for_function("(one) => one.dataset.drawn", arg=place)
    return page


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_every_chart_draws_without_a_word_on_the_console(visit, width, scheme):
    page = drawn(visit("index.html", width, scheme))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("[data-chart] .box svg.marks").count() == page.locator("[data-chart]").count() > 8


@pytest.mark.parametrize(
    ("chart", "query"),
    [
        ("compute-time", "compute-marks"),
        ("cluster-size", "cluster-marks"),
        ("engine-measured", "engine-marks"),
    ],
)
def test_a_chart_has_as_many_marks_as_the_database_has_rows(visit, counted, chart, query):
    page = drawn(visit("index.html"))
    assert page.evaluate(MARKS.format(chart=chart, kind="symbol")) == counted(query) > 0


def test_the_convention_switch_changes_the_chart_and_the_address(visit, counted):
    page = drawn(visit("index.html"))
    page.locator("#mfu-runs .choice input[value='as-reported']").check(force=True)
    expected = counted("reported-marks")
    assert expected > 0
    page.wait_for_function(f"() => {MARKS.format(chart='mfu-runs', kind='symbol')} === {expected}")
    assert "convention=as-reported" in page.url


def test_a_tooltip_says_the_value_the_date_and_how_it_is_known(visit):
    page = drawn(visit("index.html"))
    page.evaluate("document.getElementById('compute-time').scrollIntoView()")
    box = page.locator("[data-chart=compute-time] .box g.mark-symbol.role-mark > path").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function("() => document.querySelector('#vg-tooltip-element.visible')")
    said = page.locator("#vg-tooltip-element").inner_text()
    assert "Dense 1B" in said
    assert "1.2×10²⁰" in said
    assert "2024-03" in said
    assert "reported" in said


@pytest.mark.parametrize("kind", ["SVG", "PNG"])
def test_a_chart_can_be_saved(visit, kind):
    page = drawn(visit("index.html"))
    with page.expect_download() as download:
        page.locator(f"#cluster-size button[data-save={kind.lower()}]").click()
    assert download.value.suggested_filename == f"shardbook-cluster-size.{kind.lower()}"
    if kind == "SVG":
        saved = Path(download.value.path()).read_text(encoding="utf-8")
        title = page.locator("#cluster-size-t > span[lang=en]").inner_text()
        assert all(word in saved for word in title.split()[:4])  # the title may be broken into lines
        assert "CC BY 4.0" in saved
        assert "dense" in saved


def test_a_run_that_is_found_is_marked_everywhere_and_kept_in_the_address(visit):
    page = drawn(visit("index.html"))
    page.keyboard.press("/")
    page.keyboard.type("dense 1b")
    page.keyboard.press("Enter")
    assert "run=acme/dense" in page.url
    assert page.locator("#card a[href='runs/acme/dense.html']").count() == 1
    ring = "[data-chart=compute-time] .box g.mark-text"
    page.wait_for_function(
        "(ring) => [...document.querySelectorAll(ring)].some((one) => one.textContent.includes('Dense 1B'))", arg=ring
    )
    assert page.locator("tr.chosen").count() >= 1
    again = drawn(visit(f"index.html#{page.url.split('#')[1]}"))
    assert "Dense 1B" in again.locator("#card").inner_text()
    again.keyboard.press("Escape")
    assert "run=" not in again.url


def test_a_click_on_a_mark_pins_its_card(visit):
    page = drawn(visit("index.html"))
    mark = page.locator("[data-chart=compute-time] .box g.mark-symbol.role-mark > path").first
    mark.scroll_into_view_if_needed()
    mark.click(force=True)
    page.wait_for_selector("#card:not([hidden])")
    assert page.locator("#card a[href^='runs/']").count() >= 1


def test_a_filter_keeps_some_runs_and_says_how_many(visit):
    page = drawn(visit("index.html"))
    before = page.evaluate(MARKS.format(chart="compute-time", kind="symbol"))
    page.locator(".filters > summary").click()
    page.locator("#filters select[name=sparsity]").select_option("moe")
    page.wait_for_function(f"() => {MARKS.format(chart='compute-time', kind='symbol')} < {before}")
    assert "sparsity=moe" in page.url
    assert "of" in page.locator("#compute-time .shown").inner_text()
    page.locator("#filters button[type=reset]").click()
    page.wait_for_function(f"() => {MARKS.format(chart='compute-time', kind='symbol')} === {before}")


def test_an_unknown_convention_leaves_the_chart_as_it_is(visit):
    page = drawn(visit("index.html#mfu-strip~convention=nonsense"))
    assert page.evaluate(MARKS.format(chart="mfu-runs", kind="symbol")) > 0
    assert page.locator("#mfu-strip .choice input[value='6nd']").is_checked()


def test_the_title_follows_the_convention(visit):
    page = drawn(visit("index.html"))
    first = page.locator("#mfu-strip-t").inner_text()
    page.locator("#mfu-strip .choice input[value='as-reported']").check(force=True)
    assert page.locator("#mfu-strip-t").inner_text() != first


@pytest.mark.parametrize("run", ["meta/llama-3.1-405b", "deepseek/deepseek-v3"])
def test_the_first_picture_has_a_dot_for_each_accelerator(visit, run):
    page = visit("index.html")
    boxes = page.evaluate(BOXES, run)
    # Table 4 of arXiv:2407.21783v3 (8 GPUs a server) and section 3.1 of arXiv:2412.19437v2
    assert 8 * boxes == {"meta/llama-3.1-405b": 16_384, "deepseek/deepseek-v3": 2_048}[run]


def test_the_language_changes_without_a_reload(visit):
    page = drawn(visit("index.html"))
    page.evaluate("window.stillHere = true")
    page.locator("#lang-zh").check(force=True)
    page.wait_for_function("() => document.querySelector('[data-chart=compute-time]').dataset.drawn === 'zh'")
    assert page.evaluate("window.stillHere")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    assert page.locator("h1").inner_text() == "大模型究竟是怎样训练的"


def test_a_chinese_reader_starts_in_chinese(visit):
    assert visit("index.html", locale="zh-CN").locator("h1").inner_text() == "大模型究竟是怎样训练的"


@pytest.mark.parametrize("name", ["index.html", "runs.html", "runs/acme/dense.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, name, scheme):
    page = visit(name, scheme=scheme)
    if name == "index.html":
        drawn(page)
    found = Axe().run(page).response["violations"]
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
    assert serious == []


def test_the_keyboard_reaches_every_control(visit):
    page = visit("index.html")
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML.slice(0, 90)"))
    assert any('name="lang"' in one for one in reached)
    assert any('name="theme"' in one for one in reached)
    assert sum("<summary" in one for one in reached) >= 1


def test_the_page_reads_without_scripts(visit):
    page = visit("index.html", java_script_enabled=False)
    shown = page.locator("figure:not(:has(details.folded)) > [data-chart]")  # a folded one has its table
    assert page.locator("[data-chart] > svg").count() == shown.count() > 8
    assert page.locator("h1").inner_text() == "How large models were really trained"
    page.locator("label:has(#lang-zh)").click()
    assert page.locator("h1").inner_text() == "大模型究竟是怎样训练的"


def test_the_table_of_runs_searches_sorts_and_filters(visit):
    page = visit("runs.html")
    assert page.locator("#runs tbody tr").count() == 5
    assert page.locator("#runs thead th").count() == 11  # the rest waits behind the column chooser
    page.locator("input[type=search]").fill("secret")
    assert page.locator("#runs tbody tr").count() == 1
    page.locator("input[type=search]").fill("")
    page.locator("#filter-sparsity").select_option("dense")
    assert page.locator("#runs tbody th").all_inner_texts() == ["Llama 3.1 405B", "Dense 1B"]  # newest first


def test_a_deep_link_to_a_fact_shows_it(visit):
    page = visit("runs/acme/dense.html")
    page.goto(page.url + "#phases-small-mfu")
    assert page.locator("tr:target").count() == 1


def test_the_narrative_prints(visit, tmp_path):
    page = drawn(visit("index.html"))
    page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
    assert (tmp_path / "page.pdf").stat().st_size > 50_000
