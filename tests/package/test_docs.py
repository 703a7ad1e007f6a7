"""The documents hold together: every relative link in every .md leads to a file and a heading that exist, every page can be
reached from docs/README.md, every decision note is in the index with its number, every page of docs/ that a source names is
there, and every reader of files is known to the fuzzer and the guide."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["QUADRAT_SOURCE"])
DOCS = SOURCE / "docs"
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"\bdocs/[\w/.-]+?\.(?:md|png)\b")
SOURCES = ("src", "include", "tests", "bench", "examples", "apps", "fuzz", "cmake", "scenes")
ENDINGS = {".cpp", ".hpp", ".py", ".sh", ".txt", ".cmake", ".json"}


def pages():
    """All documents of the repository; what was built or written by a run is none of them."""
    for path in SOURCE.rglob("*.md"):
        if not {"build", "out", ".git"} & set(path.relative_to(SOURCE).parts):
            yield path


def prose(path):
    """The text without its code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M))


def headings(path):
    """The anchors that GitHub gives to the headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
    for line in re.findall(r"^#+ (.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-")


def links(path):
    """(target file, anchor) of every relative link."""
    for target in LINK.findall(prose(path)):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            yield (path.parent / name).resolve() if name else path, anchor


class Docs(unittest.TestCase):
    def test_links_resolve(self):
        count = 0
        for path in pages():
            for target, anchor in links(path):
                count += 1
                where = f"{path.relative_to(SOURCE)}: {os.path.relpath(target, SOURCE)}"
                self.assertTrue(target.exists(), f"{where} is not there")
                if anchor:
                    self.assertIn(anchor, headings(target), f"{where} has no heading #{anchor}")
        self.assertGreater(count, 100)

    def test_every_page_is_on_a_shelf(self):
        index = {target for target, _ in links(DOCS / "README.md")}
        for path in DOCS.rglob("*.md"):
            if path.parent != DOCS / "decisions" and path != DOCS / "README.md":
                self.assertTrue(path in index, f"docs/README.md does not list {path.relative_to(DOCS)}")
        self.assertIn(DOCS / "decisions" / "README.md", index)

    def test_every_note_is_in_the_index(self):
        index = (DOCS / "decisions" / "README.md").read_text()
        notes = sorted((DOCS / "decisions").glob("[0-9]*.md"))
        self.assertGreater(len(notes), 50)
        for path in notes:
            number = path.name[:4]
            self.assertEqual(index.count(f"- [{number}]({path.name}): "), 1, f"decisions/README.md: {path.name}")
            head = path.read_text()
            self.assertTrue(head.startswith(f"# {number}: "), f"{path.name} does not begin with its number")
            superseded = re.match(r"#[^\n]*\n\nSuperseded ", head) is not None
            entry = re.search(rf"^- \[{number}\].*?(?=^- |^$)", index, re.M | re.S).group(0)
            self.assertEqual("Superseded" in entry, superseded, f"{path.name} and the index disagree on what is superseded")

    def test_prose_wraps(self):
        for path in pages():
            if path == DOCS / "scenes.md":  # generated: a table mostly
                continue
            text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)
            for line in text.splitlines():
                if len(line) > 100 and not line.startswith("|") and len(line.lstrip().split(" ")) > 2:
                    self.fail(f"{path.relative_to(SOURCE)}: a line of {len(line)} columns: {line[:60]}...")

    def test_every_reader_is_known_to_the_fuzzer_and_the_guide(self):
        readers = set(re.findall(r"return (?:vertex_table\()?read_(\w+)\(path[,)]", (SOURCE / "src/io/by_ending.cpp").read_text()))
        readers.discard("mesh")
        self.assertGreaterEqual(len(readers), 5)
        targets = (SOURCE / "fuzz/CMakeLists.txt").read_text()
        guide = (DOCS / "guides/cli.md").read_text()
        for reader in readers:
            self.assertTrue(any((SOURCE / "fuzz/corpus" / reader).glob("*")), f"fuzz/corpus/{reader} has no file")
            self.assertRegex(targets, rf"foreach\(reader [^)]*\b{reader}\b", f"fuzz/CMakeLists.txt lacks {reader}")
            self.assertIn(f".{reader}", guide, f"docs/guides/cli.md lacks .{reader}")

    def test_pages_that_sources_name(self):
        for folder in SOURCES:
            for path in (SOURCE / folder).rglob("*"):
                if path.suffix in ENDINGS and path.is_file() and path != pathlib.Path(__file__).resolve():
                    for name in NAMED.findall(path.read_text(errors="replace")):
                        self.assertTrue((SOURCE / name).exists(), f"{path.relative_to(SOURCE)} names {name}")


if __name__ == "__main__":
    unittest.main()
