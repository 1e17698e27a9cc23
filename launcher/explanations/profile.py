"""Codes of findings made while loading a profile."""

from __future__ import annotations

from launcher import errors
from launcher.explanations.entry import Explanation

EXPLANATIONS: dict[str, Explanation] = {
    "profile-not-found": Explanation(
        cause="No profile folder holds a profile of that name, or the path leads nowhere.",
        evidence="Names are looked up in GPULAUNCH_PROFILE_PATH, the user's and the system's profile folders and among "
        "the shipped ones; never in the working folder.",
        fix="gpulaunch profiles list shows what there is; a path must hold a slash or end in .yaml.",
    ),
    "profile-unreadable": Explanation(
        cause="The profile is there, but this user may not read it.",
        evidence="open(2) was refused.",
        fix="Correct the mode of the file and its folders.",
        exit_code=errors.NO_PERMISSION,
    ),
    "profile-syntax": Explanation(
        cause="The file is not one YAML mapping in UTF-8.",
        evidence="The YAML reader stopped at the line that is named.",
        fix="Correct the indentation, quotes or brackets there.",
    ),
    "profile-scalar": Explanation(
        cause="Versions of YAML read this differently: on, 010, 12:30:45, 1_000 and dates are no text in YAML 1.1.",
        evidence="The scalar stands without quotes.",
        fix="Write one of the two spellings that the message offers.",
    ),
    "profile-duplicate-key": Explanation(
        cause="A key stands twice in one mapping; most YAML readers silently keep the last one.",
        evidence="Both lines are named.",
        fix="Keep one of them.",
    ),
    "profile-unknown-key": Explanation(
        cause="The schema has no such key; a misspelt one would be without effect.",
        evidence="gpulaunch schema prints every key.",
        fix="Use the key that is suggested; options of the engine go below args.",
    ),
    "profile-missing-key": Explanation(
        cause="Every profile says schema, name and engine.",
        evidence="The key is not in the file, nor in what it extends.",
        fix="Add it.",
    ),
    "profile-value": Explanation(
        cause="A value is not of the kind that the key takes.",
        evidence="The message says what was expected.",
        fix="Write it as the message shows.",
    ),
    "profile-expansion": Explanation(
        cause="A ${VARIABLE} in the profile is not set in the caller's environment.",
        evidence="Systemd units and tmux servers have other environments than a login shell.",
        fix="Export it, set it in the unit, or give a default: ${NAME:-value}.",
    ),
    "profile-extends": Explanation(
        cause="A parent profile is missing, broken or leads back to its child.",
        evidence="The chain is named.",
        fix="Correct extends.",
    ),
    "profile-writable": Explanation(
        cause="Somebody else could change what this profile runs.",
        evidence="The mode of the file or its folder lets others write.",
        fix="chmod go-w; as root such a profile is refused.",
    ),
    "profile-of-another": Explanation(
        cause="The profile belongs to a user who is neither root nor the one who starts it.",
        evidence="stat(2); files that are mounted into a container often have another owner.",
        fix="Nothing, if that user is trusted; else take a copy: gpulaunch profiles copy.",
    ),
    "profile-bare-dollar": Explanation(
        cause="A shell expands $NAME; a profile expands only ${NAME}, so that a dollar in a value stays one.",
        evidence="The value holds a dollar and a name in capitals, without braces.",
        fix="Write ${NAME} for the variable, or $$NAME for the characters.",
    ),
    "profile-without-effect": Explanation(
        cause="A key is valid, but says nothing where it stands.",
        evidence="The message names the key.",
        fix="Leave it out.",
    ),
    "profile-shadowed": Explanation(
        cause="Two profile folders hold a profile of this name.",
        evidence="The first one in lookup order answers.",
        fix="Rename one, or give a path.",
    ),
    "profile-clear-secret": Explanation(
        cause="A token or key stands in the profile itself.",
        evidence="Its name is that of a secret, and its value holds no ${VARIABLE}.",
        fix="Take it from the environment.",
    ),
}
