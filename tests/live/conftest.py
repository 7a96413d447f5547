"""Pages with things to touch."""

import pytest

from livecheck import Opener


@pytest.fixture
def touch(browser, tmp_path):
    """Open things to touch; in the end no script has failed and no request has left the page."""
    opener = Opener(browser, tmp_path)
    yield opener
    opener.close()
