"""Writes docs/reference/python.md from the docstrings, `reference.py FILE`; a test compares the page with them."""
import ast
import inspect
import re
import sys
import textwrap

import quadrat

HEAD = """# Python: every class and function

Written by `bindings/python/tests/reference.py` from the docstrings, whose examples are run as
tests. The [guide](../guides/python.md) says which call is for what.
"""
FIRST = ["find_pairs", "BroadPhase", "PairEvents", "find_neighbors", "find_nearest", "count_neighbors", "CellIndex", "Neighbors", "z_order",
         "pack", "open", "SparseVoxels", "VoxelHits", "EditableVoxels", "find_contacts", "earliest_time", "ContactCandidates", "find_candidates",
         "Mesh", "Contacts", "impact_times", "closest_points", "ClosestPoints", "closest_triangles", "ClosestTriangles", "triangles_intersect",
         "squared_distance", "contact_barrier", "friction_potential", "Potential", "Simulation", "Frame"]
MODULES = {"quadrat.scipy": ["KDTree"], "quadrat.ase": ["neighbor_list", "NeighborList"]}


def wrapped(words, indent=""):
    return textwrap.fill(words, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def text_of(thing):
    """The docstring as paragraphs, its examples as blocks of code; what begins like an argument becomes an item of a list."""
    out, prose, code = [], [], False

    def end_prose():
        if prose:
            words = " ".join(prose).replace("*", r"\*")
            item = re.match(r"([a-z_]+(?:, [a-z_]+)*): ", words)
            out.append(wrapped(f"- **{item[1]}**: {words[item.end():]}", "  ") if item else wrapped(words))
            prose.clear()

    for line in inspect.cleandoc(thing.__doc__ or "").splitlines():
        example = line.startswith(">>>") or (code and line.strip() != "")
        if example or not line.strip() or re.match(r"[a-z_]+(, [a-z_]+)*: ", line):
            end_prose()
        if example != code:
            out.append("```pycon" if example else "```")
            code = example
        if code or not line.strip():
            out.append(line)
        else:
            prose.append(line.strip())
    end_prose()
    return "\n".join(out + (["```"] if code else []))


def signature_of(name, thing):
    """As it is called: names and defaults; the types are in the stubs."""
    words, keywords = [], False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            words.append("*")
            keywords = True
        mark = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = parameter.default
        shown = "" if default is parameter.empty else "=" + (f"numpy.{default.__name__}" if isinstance(default, type) else repr(default))
        words.append(f"{mark}{parameter.name}{shown}")
    lines = textwrap.wrap(f"{name}({', '.join(words)})", 100, subsequent_indent=" " * (len(name) + 1), break_long_words=False)
    return "\n".join(lines)


def fields_of(cls):
    """(name, what it says) of the fields that the class itself declares with a word below them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body
    for field, word in zip(body, body[1:]):
        if isinstance(field, ast.AnnAssign) and isinstance(word, ast.Expr) and isinstance(word.value, ast.Constant):
            yield field.target.id, " ".join(word.value.value.split())


def members_of(cls):
    for name, value in vars(cls).items():
        if name.startswith("_") or not (callable(value) or isinstance(value, (property, classmethod, staticmethod))):
            continue
        yield name, value


def entry(name, thing, level="##"):
    yield f"{level} {name}\n"
    if isinstance(thing, type):
        call = "" if issubclass(thing, Exception) else f"```python\n{signature_of(name, thing)}\n```\n\n"
        yield f"{call}{text_of(thing)}\n"
        fields = [wrapped(f"- **{field}**: {word}", "  ") for field, word in fields_of(thing)]
        if fields:
            yield "\n".join(fields) + "\n"
        for member, value in members_of(thing):
            if isinstance(value, property):
                yield f"{level}# {name}.{member}\n\n{text_of(value)}\n"
            else:
                function = getattr(thing, member)
                yield f"{level}# {name}.{member}\n\n```python\n{signature_of(member, function)}\n```\n\n{text_of(function)}\n"
    else:
        yield f"```python\n{signature_of(name, thing)}\n```\n\n{text_of(thing)}\n"


def page():
    """The whole page; without ASE or scipy their modules are imported all the same, since they ask for them late."""
    from importlib import import_module

    parts = [HEAD]
    rest = sorted(set(quadrat.__all__) - set(FIRST) - {"__version__"})
    for name in FIRST + rest:
        parts += entry(name, getattr(quadrat, name))
    for module, names in MODULES.items():
        found = import_module(module)
        parts.append(f"## {module}\n\n{text_of(found)}\n")
        for name in names:
            parts += entry(name, getattr(found, name), "###")
    return "\n".join(parts)


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        file.write(page())
