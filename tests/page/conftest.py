"""A browser, a page to look at with it, and what it must never do: complain, ask the network, or miss a file."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import small_project


def pytest_addoption(parser):
    parser.addoption("--results", type=Path, help="a finished run; without, the tiny preset is run")
    parser.addoption("--screenshots", type=Path, help="where to keep pictures of the pages")


@pytest.fixture(scope="session")
def results(request, tmp_path_factory):
    """A finished run."""
    given = request.config.getoption("results")
    if given is not None:
        assert (given / "index.html").is_file(), f"{given} has no index.html: make it first"
        return given.resolve()
    folder = small_project.project(tmp_path_factory.mktemp("page") / "project")
    shutil.copy(small_project.ROOT / "config.yaml", folder)
    small_project.to_the_end(folder, "--configfile", "workflow/presets/tiny.yaml")
    return folder / "results"


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium")
    assert program, "there is no chromium on the PATH: install the package chromium"
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, results):
    """Opens a page of the results. When the test is over, nothing must have gone wrong in any that it opened."""
    contexts, problems = [], []

    def refuse(route):
        problems.append(f"asks the network for {route.request.url}")
        route.abort()

    def opened(name="index.html", *, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        context.route(lambda url: not url.startswith(("file:", "data:", "blob:")), refuse)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"{name}: {error}"))
        page.on(
            "console",
            lambda said: (
                said.type in ("error", "warning") and problems.append(f"{name}: {said.text}")
            ),
        )
        page.on(
            "requestfailed",
            lambda request: problems.append(f"{name}: {request.url}: {request.failure}"),
        )
        address, _, choice = name.partition("#")
        page.goto((results / address).as_uri() + (f"#{choice}" if choice else ""))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []
