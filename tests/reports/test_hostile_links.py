"""Addresses that nobody meant: the page opens at its top and says nothing on the console."""

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "hash_", ["%E0%A4%A", "nowhere", "<img src=x onerror=alert(1)>", "mfu-runs~convention=nonsense"]
)
def test_an_address_cut_or_made_up_is_no_error(browser, pages, hash_):
    context = browser.new_context()
    page, trouble = context.new_page(), []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.goto(f"{(pages / 'index.html').as_uri()}#{hash_}")
    page.wait_for_function("() => document.documentElement.lang")
    page.wait_for_timeout(300)
    context.close()
    assert trouble == []
