"""Write equations of Office (OMML) as a line of text, such as "(a+b)/(c)"."""

from typing import Any

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def write_equation(element: Any) -> str:
    """Return the text of an equation or a part of one."""
    return "".join(_write(one) for one in element.iterchildren())


def _write(element: Any) -> str:
    name = str(element.tag).removeprefix(_M)
    match name:
        case "t":
            return element.text or ""
        case "f":
            return f"({_part(element, 'num')})/({_part(element, 'den')})"
        case "sSup" | "sSub" | "sSubSup":
            sub, sup = _group(element, "sub"), _group(element, "sup")
            return _part(element, "e") + (f"_{sub}" if sub else "") + (f"^{sup}" if sup else "")
        case "rad":
            degree = _part(element, "deg")
            return (
                f"root({degree}, {_part(element, 'e')})"
                if degree
                else f"sqrt({_part(element, 'e')})"
            )
        case "nary":
            sign = element.find(f"{_M}naryPr/{_M}chr")
            symbol = sign.get(f"{_M}val") if sign is not None else "\u222b"
            lower, upper = _part(element, "sub"), _part(element, "sup")
            limits = (f"_({lower})" if lower else "") + (f"^({upper})" if upper else "")
            return f"{symbol}{limits} {_part(element, 'e')}"
        case "d":
            begin, end = _bracket(element, "begChr", "("), _bracket(element, "endChr", ")")
            inner = ", ".join(write_equation(one) for one in element.findall(f"{_M}e"))
            return f"{begin}{inner}{end}"
        case "m":
            rows = (
                ", ".join(write_equation(cell) for cell in row.findall(f"{_M}e"))
                for row in element.findall(f"{_M}mr")
            )
            return f"[{'; '.join(rows)}]"
        case _ if name.endswith("Pr") or element.tag == f"{_W}rPr":
            return ""
        case _:
            return write_equation(element)


def _part(element: Any, name: str) -> str:
    found = element.find(f"{_M}{name}")
    return write_equation(found) if found is not None else ""


def _group(element: Any, name: str) -> str:
    text = _part(element, name)
    return text if len(text) < 2 else f"({text})"


def _bracket(element: Any, name: str, default: str) -> str:
    found = element.find(f"{_M}dPr/{_M}{name}")
    return str(found.get(f"{_M}val", "")) if found is not None else default
