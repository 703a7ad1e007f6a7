"""The documents hold together: every relative link in every .md leads to a file and a heading that exist, every page is
listed by README.md and by docs/README.md, every decision note is in the index with its number, every page of docs/ that a
source names is there, every reader of files is known to the fuzzer, every ending, query shape and radius rule to the guides."""
import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["QUADRAT_SOURCE"])
DOCS = SOURCE / "docs"
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"\bdocs/[\w/.-]+?\.(?:md|png)\b")
SOURCES = ("src", "include", "tests", "bench", "examples", "apps", "fuzz", "cmake", "scenes", "bindings")
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
        for index in (SOURCE / "README.md", DOCS / "README.md"):
            listed = {target for target, _ in links(index)} | {index}
            for path in DOCS.rglob("*.md"):
                if path.parent != DOCS / "decisions" and path != DOCS / "README.md":
                    self.assertTrue(path in listed, f"{index.relative_to(SOURCE)} does not list {path.relative_to(DOCS)}")
            self.assertIn(DOCS / "decisions" / "README.md", listed)
        self.assertIn(DOCS / "README.md", {target for target, _ in links(SOURCE / "README.md")})

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
        readers = set()
        for path in (*(SOURCE / "src/io/table").glob("*.hpp"), *(SOURCE / "src/io/mesh").glob("*.hpp")):
            readers |= set(re.findall(r" read_(\w+)\(const std::string& path", path.read_text()))
        self.assertGreaterEqual(len(readers), 5)
        targets = (SOURCE / "fuzz/CMakeLists.txt").read_text()
        bodies = (SOURCE / "fuzz/bodies/readers.hpp").read_text()
        replayed = (SOURCE / "tests/io/corpus_test.cpp").read_text()
        by_ending = (SOURCE / "src/io/by_ending.cpp").read_text()
        tested = "".join(path.read_text() for path in (SOURCE / "tests/io").glob("*_test.cpp"))
        for reader in readers:
            self.assertTrue(any((SOURCE / "fuzz/corpus" / reader).glob("*")), f"fuzz/corpus/{reader} has no file")
            self.assertRegex(targets, rf"foreach\(reader [^)]*\b{reader}\b", f"fuzz/CMakeLists.txt lacks {reader}")
            self.assertIn(f"io::parse_{reader}(", bodies, f"fuzz/bodies/readers.hpp lacks {reader}")
            self.assertIn(f'replay("{reader}", fuzz::{reader})', replayed, f"tests/io/corpus_test.cpp lacks {reader}")
            self.assertIn(f"parse_{reader}(", tested, f"tests/io lacks {reader}")
            self.assertIn(f"return read_{reader}(path", by_ending, f"src/io/by_ending.cpp lacks {reader}")

    def test_every_ending_is_known_wherever_files_are_read(self):
        text = (SOURCE / "src/io/by_ending.cpp").read_text()
        mesh, table = (re.search(rf"^\w+ {name}\(.*?^}}", text, re.S | re.M).group(0) for name in ("read_mesh", "read_table"))

        def taken(function):
            return set(re.findall(r'type == "(\.\w+)"', function))

        def said(function):
            return set(re.findall(r"\.\w+", re.search(r'"[^"]*expected (.*?)"', function).group(1)))

        self.assertGreaterEqual(len(taken(mesh)), 2)
        self.assertEqual(said(mesh), taken(mesh), "read_mesh says what it takes")
        self.assertEqual(taken(mesh) - taken(table), set(), "read_table takes the vertices of every mesh")
        self.assertEqual(said(table), taken(table) - {".txt", ".tsv"}, "read_table says what it takes")
        pack = (SOURCE / "apps/quadrat/verbs/pack_source.cpp").read_text()
        collide = (SOURCE / "apps/quadrat/verbs/collide.cpp").read_text()
        page = (SOURCE / "tests/scene_io/extra_keys.hpp").read_text()
        guide = (DOCS / "guides/cli.md").read_text()
        for ending in taken(table):
            self.assertRegex(guide, rf"(?m)^\|[^|\n]*`\{ending}`", f"docs/guides/cli.md: the table of files lacks {ending}")
            self.assertIn(f'"{ending}"', pack, f"quadrat pack does not take {ending}")
        for ending in taken(mesh):
            self.assertRegex(collide, rf"at the start[^\n]*\{ending}\b", f"quadrat collide --help lacks {ending}")
            self.assertEqual(len(re.findall(rf'{{"file",[^}}]*[Mm]esh[^}}]*`\{ending}`', page)), 2, f"docs/scenes.md lacks {ending}")

    def test_every_radius_rule_is_in_the_guides(self):
        header = (SOURCE / "include/quadrat/neighbors/radius_rule.hpp").read_text()
        rules = re.findall(r'(?m)^    static constexpr std::string_view name = "(\w+)"', header)
        self.assertGreaterEqual(len(rules), 4)
        option = re.search(r"`--radius-rule ([^`]*)`", (DOCS / "guides/cli.md").read_text()).group(1)
        self.assertEqual(re.findall(r"\w+", option), rules, "docs/guides/cli.md: --radius-rule")
        guide = (DOCS / "guides/neighbors.md").read_text()
        for rule in rules:
            self.assertRegex(guide, rf"(?m)^\|.*`\.rule`.*`{rule}`", f"docs/guides/neighbors.md: .rule lacks {rule}")
            self.assertRegex(header, rf"(?m)^//     {rule} ", f"the table at the head of radius_rule.hpp lacks {rule}")

    def test_every_query_shape_is_public_and_in_the_reference(self):
        def shapes(header):
            return set(re.findall(r"void find\(const (\w+)<D, T>&", (SOURCE / header).read_text()))

        public = shapes("include/quadrat/broad_phase/hash_grid_hierarchy.hpp")
        self.assertGreaterEqual(len(public), 5)
        self.assertEqual(public - {"Vec"}, shapes("src/broad_phase/queries.hpp"))  # a point is a box
        listed = re.search(r"`find\(([\w |]*), out\)`", (DOCS / "reference/broad_phase.md").read_text()).group(1)
        self.assertEqual({shape.lower() for shape in public - {"Vec"}} | {"point"}, set(listed.split(" | ")))

    def test_pages_that_sources_name(self):
        for folder in SOURCES:
            for path in (SOURCE / folder).rglob("*"):
                if path.suffix in ENDINGS and path.is_file() and path != pathlib.Path(__file__).resolve():
                    for name in NAMED.findall(path.read_text(errors="replace")):
                        self.assertTrue((SOURCE / name).exists(), f"{path.relative_to(SOURCE)} names {name}")


if __name__ == "__main__":
    unittest.main()
