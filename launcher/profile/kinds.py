"""The kinds of values that keys of a profile take, and what is said of a value of another kind. Pure.

No message repeats a value of a key in which variables are expanded: it may have come from a secret one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from launcher.profile.document import short
from launcher.profile.units import NoQuantity, seconds, size
from launcher.variables import RESERVED

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GLOB = re.compile(r"[A-Za-z_*?\[][A-Za-z0-9_*?\[\]!-]*")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_CAPABILITY = re.compile(r"(?P<major>[0-9]{1,2})\.(?P<minor>[0-9])")
_CAPABILITY_LIKE = re.compile(r"(?i:(?:sm|compute)_?)?(?P<major>[0-9]{1,2})\.?(?P<minor>[0-9])(?P<rest>[a-z]?|\+PTX)")
_MAJOR = re.compile(r"[0-9]|1[0-9]")
_WHOLE = re.compile(r"[0-9]{1,9}")
_TOOLKITS = ("auto", "keep", "wheel", "provision", "hide")


def wrong(what: str, fix: str) -> PydanticCustomError:
    """What a validator raises: what is wrong, and what to do as a sentence."""
    return PydanticCustomError("profile", "{what}; {fix}", {"what": what, "fix": fix})


def called(value: Any) -> str:
    """What a value is, to people."""
    if isinstance(value, bool):
        return str(value).lower()
    kinds: dict[type, str] = {dict: "a mapping", list: "a list", type(None): "null"}
    return kinds.get(type(value), "text")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        raise wrong(f"expected text, got {called(value)}", f'Write "{called(value)}", if that is the text.')
    if not isinstance(value, (str, int, float)):
        raise wrong(f"expected text, got {called(value)}", "Write one word, or a text in quotes.")
    return str(value)


def _filled(value: str) -> str:
    if not value:
        raise wrong("it is empty", "Write a value, or leave the key out.")
    return value


def _one_line(value: str) -> str:
    """Names, paths and models are one word; arguments and variables may hold whole scripts and templates."""
    if "\n" in value or "\r" in value:
        raise wrong("it holds a line break", "Write it in one line; in YAML, >- folds lines into one.")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not _WHOLE.fullmatch(str(value)):
        raise wrong("expected a whole number", "Write one, such as 8.")
    return int(value)


def _positive(value: int) -> int:
    if value < 1:
        raise wrong("it must be 1 or more", "Leave the key out to assert nothing.")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong(f"expected true or false, got {called(value)}", "Write true or false.")
    return value


def _duration(value: Any) -> float:
    return float(_quantity(value, seconds))


def _bytes(value: Any) -> int:
    return int(_quantity(value, size))


def _quantity(value: Any, read: Any) -> float | int:
    try:
        return read(_text(value))  # type: ignore[no-any-return]
    except NoQuantity as error:
        raise wrong(error.what, error.fix) from None


def _listed(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        raise wrong(f"expected a list, got {called(value)}", "Write [A, B], or one entry a line with - in front.")
    return value


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise wrong(
            f"{short(value)!r} can be no name", "Use letters, digits, dots, dashes and underscores, a letter first."
        )
    return value


def _not_reserved(name: str) -> None:
    if name in RESERVED:
        raise wrong(f"{name} is gpulaunch's own, so that all libraries see one toolkit", RESERVED[name])


def _variable(name: Any) -> str:
    text = _text(name)
    if "=" in text:
        raise wrong("it holds a value", "Values stand below env.set, as NAME: VALUE.")
    _not_reserved(text)
    if not _VARIABLE.fullmatch(text):
        raise wrong("it can be no variable here", "Write whole names; letters, digits and _, a letter first.")
    return text


def _passed(name: Any) -> str:
    text = _text(name)
    if "*" in text and not text.strip("*?"):
        what = f'"{text}" would copy the caller\'s whole environment'
        raise wrong(what, "Name what is needed; globs like NCCL_* do.")
    if any(sign in text for sign in "*?[") and _GLOB.fullmatch(text):
        return text
    return _variable(text)


def _folder(value: str) -> str:
    if not value.startswith("/"):
        raise wrong("it is not absolute", "Write the whole path.")
    if ":" in value:
        raise wrong("it holds a colon, which separates folders on PATH", "Write one folder an entry.")
    return value


def _capability(value: Any) -> str:
    text = _text(value)
    if _CAPABILITY.fullmatch(text):
        return text
    like = _CAPABILITY_LIKE.fullmatch(text)
    if _MAJOR.fullmatch(text):
        raise wrong(f"{text} is no compute capability", f"Write it as {text}.0.")
    if like and like["rest"]:
        plain = f"{like['major']}.{like['minor']}"
        raise wrong(f"{text} has a suffix", f"Write {plain}: each library gets the form that it needs.")
    if like:
        raise wrong(f"{text} is no compute capability", f"Write it as {like['major']}.{like['minor']}.")
    raise wrong(f"{short(text)} is no compute capability", "Write MAJOR.MINOR, such as 12.0.")


def _gpu(value: Any) -> str:
    text = _filled(_text(value))
    if "," in text:
        raise wrong("it names several in one text", "Write a list: [0, 1].")
    return text


def _toolkit(value: str) -> str:
    if value not in _TOOLKITS and not value.startswith("/"):
        raise wrong(f"{short(value)} is no choice", f"Write one of {', '.join(_TOOLKITS)}, or an absolute path.")
    return value


def _path(value: str) -> str:
    if not value.startswith("/"):
        raise wrong("it does not begin with /", "Write a path such as /health, or url: with a whole URL.")
    return value


def _url(value: str) -> str:
    if not re.match(r"https?://[^/\s]", value) or re.search(r"[^!-~]", value) or not _has_address(value):
        raise wrong("it is no whole URL", "Write it with http:// or https://, host and port.")
    if "@" in value.split("/")[2]:
        raise wrong("it holds a user, which is not sent", "Leave the user out: the question is asked without one.")
    return value


def _has_address(url: str) -> bool:
    """A host, and a port that is one if any."""
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _policy(value: Any) -> Any:
    if value not in ("never", "on-failure"):
        said = short(value) if isinstance(value, str) else called(value)
        raise wrong(f"{said} is no policy", "Write never or on-failure.")
    return value


def _one_of(*words: str) -> Callable[[Any], Any]:
    """Exactly one of these words."""

    def judge(value: Any) -> Any:
        if value not in words:
            said = short(value) if isinstance(value, str) else called(value)
            raise wrong(f"expected {' or '.join(words)}, got {said}", f"Write {' or '.join(words)}.")
        return value

    return judge


def _version(value: Any) -> int:
    if isinstance(value, bool) or str(value) != "1":
        said = short(value) if isinstance(value, str) else called(value)
        raise wrong(f"this gpulaunch knows schema 1, not {said}", "Write schema: 1, or upgrade gpulaunch.")
    return 1


def _specifier(value: str) -> str:
    try:
        SpecifierSet(value)
    except InvalidSpecifier:
        exact = f"=={value}" if value[:1].isdigit() else ">=0.5.14,<0.6"
        raise wrong(f"{short(value)} is no version specifier", f'Write one, such as "{exact}".') from None
    return value


def _distribution(value: Any) -> str:
    text = _text(value)
    if not _DISTRIBUTION.fullmatch(text):
        raise wrong(f"{short(text)!r} is no name of a package", 'Write NAME: ">=VERSION".')
    return text


_PLAIN = {"type": ["string", "number"]}
_VARIABLES_NAME = {"type": "string", "pattern": f"^(?!(?:{'|'.join(RESERVED)})$)[A-Za-z_][A-Za-z0-9_]*$"}
_SECONDS = {"anyOf": [{"type": "string", "pattern": r"^(\d+(\.\d+)? ?(ms|s|m|min|h|d))+$"}, {"const": 0}]}
_BYTES = {"anyOf": [{"type": "string", "pattern": r"^\d+(\.\d+)? ?(B|[kKMG]B|[KMG]iB)$"}, {"const": 0}]}


def _some(entry: dict[str, Any]) -> WithJsonSchema:
    """One or a list of them."""
    return WithJsonSchema({"anyOf": [entry, {"type": "array", "items": entry}]})


AnyText = Annotated[str, BeforeValidator(_text), WithJsonSchema(_PLAIN)]
Word = Annotated[
    str, AfterValidator(_one_line), AfterValidator(_filled), BeforeValidator(_text),
    WithJsonSchema({**_PLAIN, "minLength": 1}),
]  # fmt: skip
Name = Annotated[Word, AfterValidator(_name)]
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]
Count = Annotated[Whole, AfterValidator(_positive), WithJsonSchema({"type": "integer", "minimum": 1})]
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]
Seconds = Annotated[float, BeforeValidator(_duration), WithJsonSchema({**_SECONDS, "examples": ["60s", "20m"]})]
Bytes = Annotated[int, BeforeValidator(_bytes), WithJsonSchema({**_BYTES, "examples": ["64MiB"]})]

VariableName = Annotated[str, BeforeValidator(_variable), WithJsonSchema(_VARIABLES_NAME)]
Passed = Annotated[str, BeforeValidator(_passed), WithJsonSchema({"type": "string"})]
Folder = Annotated[Word, AfterValidator(_folder), WithJsonSchema({"type": "string"})]
Toolkit = Annotated[Word, AfterValidator(_toolkit), WithJsonSchema({"type": "string"})]
Path = Annotated[Word, AfterValidator(_path), WithJsonSchema({"type": "string", "pattern": "^/"})]
Url = Annotated[Word, AfterValidator(_url), WithJsonSchema({"type": "string", "pattern": "^https?://"})]
Distribution = Annotated[str, BeforeValidator(_distribution), WithJsonSchema({"type": "string"})]
Specifier = Annotated[AnyText, AfterValidator(_specifier), WithJsonSchema({"type": "string"})]
Policy = Annotated[str, BeforeValidator(_policy), WithJsonSchema({"enum": ["never", "on-failure"]})]
LogFormat = Annotated[str, BeforeValidator(_one_of("text", "json")), WithJsonSchema({"enum": ["text", "json"]})]
Wire = Annotated[str, BeforeValidator(_one_of("pipe", "pty")), WithJsonSchema({"enum": ["pipe", "pty"]})]
Version = Annotated[int, BeforeValidator(_version), WithJsonSchema({"const": 1})]

Texts = Annotated[tuple[AnyText, ...], BeforeValidator(_listed)]
VariableNames = Annotated[tuple[VariableName, ...], BeforeValidator(_listed)]
PassedNames = Annotated[tuple[Passed, ...], BeforeValidator(_listed)]
Folders = Annotated[tuple[Folder, ...], BeforeValidator(_listed)]
Parents = Annotated[tuple[Word, ...], BeforeValidator(_one_or_more), _some({"type": "string"})]
Selection = Annotated[tuple[Annotated[str, BeforeValidator(_gpu)], ...], BeforeValidator(_one_or_more), _some(_PLAIN)]
Capabilities = Annotated[
    tuple[Annotated[str, BeforeValidator(_capability)], ...],
    BeforeValidator(_one_or_more),
    _some({"type": ["string", "number"], "pattern": r"^\d{1,2}\.\d$"}),
]
