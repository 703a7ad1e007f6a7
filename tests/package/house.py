"""The measures of the house, as a table: house.py TREE... prints a column per tree (the folder that holds src/ and include/).

Counted are the .hpp and .cpp files of src/ and include/; test_house.py counts those of apps/, too. A line is code, comment or
blank; a line with code and a comment is code, and one that only has an assertion is counted apart. A function is what a brace
opens after a parameter list (constructors, lambdas and their bodies included in what surrounds them) at namespace or class
level; its length is from the line of its brace to that of the closing one. The text is read without strings, comments and
preprocessor lines, so that what is counted is a matter of braces, not of a parser: macros that open a brace are not seen
through."""
import pathlib
import re
import sys

NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
ASSERT = re.compile(r"\bQUADRAT_ASSERT\s*\(")
NOT_FUNCTION = re.compile(r"^(?:(?:inline|export|typedef)\s+)*(?:namespace|class|struct|union|enum|extern)\b|=\s*$")


def blank(match):
    """What is left of a comment or a string: its line ends, and for a string that something was there."""
    text = match.group(0)
    return ("" if text[0] == "/" else '""') + "\n" * text.count("\n")


def functions(text):
    """(name, length in lines) of the functions of a file."""
    # A digit separator is no quote; a preprocessor line, continued ones included, holds no function.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    text = NOISE.sub(blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M)
    found, depth, head, start = [], [], "", 0
    line, round_ = 1, 0
    for char in text:
        if char == "\n":
            line += 1
        inside = "function" in depth
        if char == "(":
            round_ += 1
        elif char == ")":
            round_ -= 1
        if char == "{":
            # A brace inside parentheses is a value or a lambda; so is one inside a function.
            declared = re.sub(r"template\s*<[^{}]*?>\s*(?=class|struct|union)", "", head.strip())
            declared = re.sub(r"^(?:public|private|protected)\s*:\s*", "", declared).strip()
            is_function = not inside and round_ == 0 and ")" in declared and not NOT_FUNCTION.search(declared)
            if is_function and not re.search(r":\s*\w+$|,\s*\w+$", declared):  # not the brace of an initialised member
                start, name = line, declared
                depth.append("function")
            else:
                depth.append("initialiser" if re.search(r":\s*\w+$|,\s*\w+$", declared) and ")" in declared else "scope")
                if depth[-1] == "initialiser":
                    head += char
                    continue
            head = ""
        elif char == "}":
            kind = depth.pop() if depth else "scope"
            if kind == "function":
                match = re.search(r"([\w~:]+|operator\S+)\s*\(", name)
                found.append((match.group(1) if match else name, line - start + 1))
            head = head + char if kind == "initialiser" else ""
        elif char == ";" and round_ == 0:
            head = ""
        elif not inside:
            head += char
    return found


def lines(text):
    """(code, comment, blank, lines that are an assertion only) of a file."""
    code = comment = empty = assertion = 0
    within = asserting = False  # a comment in /* */; an assertion of several lines
    for line in text.splitlines():
        bare = line.strip()
        if within or bare.startswith("//") or bare.startswith("/*"):
            comment += 1
            within = (within or bare.startswith("/*")) and "*/" not in bare
        elif not bare:
            empty += 1
        elif asserting or ASSERT.match(bare):
            assertion += 1
            asserting = not re.search(r";\s*(?://.*)?$", bare)
        else:
            code += 1
    return code, comment, empty, assertion


def at(values, share):
    """The value below which this share of them lies."""
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0


def measure(tree, tops=("src", "include")):
    """The rows of the table for one tree, and its longest functions."""
    files = sorted(path for top in tops for path in (tree / top).rglob("*") if path.suffix in (".hpp", ".cpp"))
    lengths, totals, public, folders, named, asserts = [], [0] * 4, [0] * 4, {}, [], 0
    for path in files:
        text = path.read_text()
        counted = lines(text)
        lengths.append(sum(counted))
        totals = [a + b for a, b in zip(totals, counted)]
        if path.is_relative_to(tree / "include"):
            public = [a + b for a, b in zip(public, counted)]
        folders[path.parent] = folders.get(path.parent, 0) + 1
        if path.name != "assert.hpp":
            asserts += len(ASSERT.findall(NOISE.sub(blank, text)))
        named += [(length, name, path.relative_to(tree)) for name, length in functions(text)]
    code, comment, empty, assertion = totals
    sizes = [length for length, _, _ in named]
    largest = max(folders, key=folders.get)
    rows = {
        "files": len(files),
        "lines of code": code,
        "lines of comment / blank / assertions only": f"{comment} / {empty} / {assertion}",
        "file median / p90 / max": f"{at(lengths, .5)} / {at(lengths, .9)} / {max(lengths)}",
        "functions": len(sizes),
        "function p90 / max": f"{at(sizes, .9)} / {max(sizes)}",
        "functions above 80 lines": sum(size > 80 for size in sizes),
        "files above 500 lines": sum(length > 500 for length in lengths),
        "assertions (QUADRAT_ASSERT)": asserts,
        "public comment share": f"{100 * public[1] / max(1, public[0] + public[1] + public[3]):.1f} %",
        "largest folder": f"{folders[largest]}, {largest.relative_to(tree)}",
        "folders of more than 20 files": sum(count > 20 for count in folders.values()),
    }
    return rows, sorted(named, key=lambda entry: -entry[0])


def main():
    trees = [pathlib.Path(word).resolve() for word in sys.argv[1:]] or [pathlib.Path(__file__).resolve().parents[2]]
    measured = [measure(tree) for tree in trees]
    print("| | " + " | ".join(tree.name for tree in trees) + " |")
    print("|---|" + "---|" * len(trees))
    for row in measured[0][0]:
        print(f"| {row} | " + " | ".join(str(rows[row]) for rows, _ in measured) + " |")
    for tree, (_, named) in zip(trees, measured):
        print(f"\nlongest functions of {tree.name}:")
        for length, name, path in named[:8]:
            print(f"  {length:4} {name} ({path})")


if __name__ == "__main__":
    main()
