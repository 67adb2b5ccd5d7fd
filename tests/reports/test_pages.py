"""What the written pages promise: self-contained, escaped, complete, the same bytes every time."""

import csv
import hashlib
import re
from html import unescape
from pathlib import Path

import pytest

from reports.page import site
from reports.source import Source


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def markup(path: Path) -> str:
    """The page without what its scripts and styles say."""
    return re.sub(r"(<(?:script|style)[^>]*>).*?</(?:script|style)>", r"\1", text(path), flags=re.S)


def test_nothing_is_loaded_from_outside(pages):
    for path in pages.rglob("*.html"):
        loads = re.findall(r'<(?:script|img|link|iframe|source)[^>]*\b(?:src|href)="([^"]*)"', markup(path))
        assert [link for link in loads if not link.startswith("data:")] == []


def test_the_policy_names_every_script_and_style_of_its_page(pages):
    for path in pages.rglob("*.html"):
        page = text(path)
        policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1))
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")
        assert " style=" not in markup(path)


def test_a_name_cannot_become_markup_or_script(pages, evil):
    for path in pages.rglob("*.html"):
        assert evil not in text(path)
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in text(pages / "runs.html")


def test_the_same_database_gives_the_same_bytes(built, pages, tmp_path):
    site.build(Source.open(built), tmp_path)
    digests = [
        {path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*.*")}
        for folder in (pages, tmp_path)
    ]
    assert digests[0] == digests[1]


def test_every_run_has_a_page_and_every_local_link_leads_somewhere(pages):
    for path in pages.rglob("*.html"):
        links = re.findall(r'<a [^>]*href="([^"#]+)(?:#[^"]*)?"', markup(path))
        local = [link for link in links if not link.startswith("https://") and "/data/runs/" not in link]
        assert [link for link in local if not (path.parent / link).is_file()] == []
    assert len(list((pages / "runs").rglob("*.html"))) == 5


def test_every_anchor_of_the_narrative_exists(pages):
    page = markup(pages / "index.html")
    ids = set(re.findall(r'\bid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= ids


def test_no_id_is_used_twice(pages):
    for path in pages.rglob("*.html"):
        ids = re.findall(r'\sid="([^"]+)"', re.sub(r"<svg.*?</svg>", "", markup(path), flags=re.S))
        assert len(ids) == len(set(ids)), path


def test_the_page_says_which_commit_and_data_it_was_made_of(pages, source):
    build = source.build()
    assert build["data_hash"][:12] in text(pages / "index.html")


def test_a_query_is_printed_beside_its_figure(pages):
    assert "from frontier_compute" in text(pages / "index.html")


def test_a_csv_holds_exact_values(pages):
    with (pages / "data" / "runs.csv").open(encoding="utf-8") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert rows["Dense 1B"]["accelerators"] == "64"
    assert float(rows["Secret"]["compute_flop"]) == 5e20


def test_a_fact_of_a_run_page_carries_document_and_place(pages):
    page = text(pages / "runs" / "acme" / "dense.html")
    fact = re.search(r'<tr id="phases-small-mfu">.*?</tr>', page, flags=re.S).group(0)
    assert "40.0%" in fact
    assert 'href="https://acme.example/dense.pdf"' in fact
    assert "Table 2" in fact


def test_a_layout_that_adds_up_says_so(pages):
    page = text(pages / "runs" / "acme" / "dense.html")
    equation = re.search(r'<div class="equation">.*?</div>', page, flags=re.S).group(0)
    assert "<b>8</b>" in equation  # 2 x 1 x 2 x 2
    assert "✓" in equation


def test_an_empty_record_still_gives_an_honest_page(empty, tmp_path):
    index = site.build(Source.open(empty), tmp_path / "site")
    assert "No record states a throughput yet" in text(index)
    assert "Not computed yet" in text(index)


def test_a_stopped_build_leaves_the_last_good_page(pages, tmp_path, monkeypatch):
    from reports.page import assembly as page

    page.write(tmp_path / "index.html", "good")

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        page.write(tmp_path / "index.html", "half")
    assert [text(path) for path in tmp_path.iterdir()] == ["good"]


def test_the_narrative_stays_under_three_megabytes(pages):
    assert (pages / "index.html").stat().st_size < 3_000_000
