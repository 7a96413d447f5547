"""Pages with things to touch."""

import pytest

from livecheck import Opener
from toytf.live import element


@pytest.fixture
def touch(browser, tmp_path):
    """Open things to touch; in the end no script has failed and no request has left the page."""
    opener = Opener(browser, tmp_path)
    yield opener
    opener.close()


@pytest.fixture
def engine(browser):
    """A function that opens a page of a script alone, changed at one place if asked, and gives what evaluates there."""
    contexts = []

    def opened(*changed, script=None):
        script = script or element.script("live")
        if changed:
            assert changed[0] in script
            script = script.replace(*changed, 1)
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.add_script_tag(content=script)
        return page.evaluate

    yield opened
    for context in contexts:
        context.close()
