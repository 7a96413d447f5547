"""The bill of a training, to be moved."""

from livecheck import Case, shown
from toytf import live
from toytf.live.bill import two_digits

BILL = live.bill({"small": (8.03, 15, 14), "large": (405, 15.6, 35)}, machine="H100", peak=989e12)


def shows(page, parameters=405, tokens=15.6, mfu=35, hour=2.5, lock="off"):
    tokens = parameters / 50 if lock == "on" else tokens
    hours = 6 * parameters * tokens * 1e21 / (3600 * 989e12 * mfu / 100)
    bill = (hours * hour, hours, 1000 * tokens / parameters)
    assert [number for (number,) in shown(page, ".live-bill")] == [*map(two_digits, bill)]


def press(page):
    page.get_by_role("slider", name="parameters N, billions").press("Home")
    page.get_by_role("slider", name="MFU, % of the peak").press("End")


CASE = Case(
    BILL,
    shows,
    links={
        "parameters=8.03&tokens=15&mfu=14": {"parameters": 8.03, "tokens": 15, "mfu": 14},
        "parameters=0.64&lock=on": dict(parameters=0.64, lock="on"),
        "parameters=0.063&tokens=0.0025&hour=1.99": dict(parameters=0.063, tokens=0.0025, hour=1.99),
    },
    keys=(press, {"parameters": 0.01, "mfu": 100}, "parameters=0.01&mfu=100"),
    finger=(lambda page: page.get_by_role("slider", name="tokens D, trillions").press("Home"), {"tokens": 0.0002}),
    wrong_links={"mfu=0": ("MFU, % of the peak: expected a number from 1 to 100, got 0", {})},
    wrong_numbers={("hour", "free"): "dollars an hour: expected a number from 0.1 to 20, got “free”"},
)


def test_while_it_is_locked_either_slider_moves_the_other(touch):
    page = touch(BILL, fragment="#bill?lock=on")
    page.get_by_role("slider", name="tokens D, trillions").press("End")
    shows(page, parameters=10000, lock="on")
    page.get_by_role("slider", name="parameters N, billions").press("Home")
    shows(page, parameters=0.01, lock="on")


def test_a_model_is_chosen_by_its_name(touch):
    page = touch(BILL, fragment="#bill?lock=on")
    page.get_by_role("button", name="small").click()
    shows(page, parameters=8.03, tokens=15, mfu=14)
    assert page.locator("[aria-pressed=true]").all_inner_texts() == ["small"]
    assert not page.get_by_role("switch").is_checked()
