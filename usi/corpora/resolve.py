"""Which files a human reference consists of: a path, or a name under ``human_corpus/``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from pathlib import Path

from usi.corpora.manifest import (
    MANIFEST,
    LoadKeys,
    Manifest,
    SurveyDesign,
    check_inside,
    read_manifest,
)
from usi.corpora.parts import HELD_OUT, Part, choose_part
from usi.errors import InputError, UsageError, UsiError
from usi.loading.labels import simulator_label
from usi.options import LoadOptions

FOLDER = "human_corpus"
SURVEYS = "survey_data"
STDIN = "-"


@dataclass(frozen=True)
class Corpus:
    """A human reference on disk.

    Attributes
    ----------
    name
        From its manifest, else from its file or folder name; with the part where one was named.
    paths
        What to load.
    surveys
        The folder of surveys that its manifest names, else ``survey_data/`` beside it.
    survey_design
        What the respondents of its survey files saw, where its manifest says so: the people's own
        transcripts, or other talks about the same tasks.
    synthetic, licence, terms, research_only, redistribute
        From its manifest. ``redistribute`` is ``None`` where neither it nor its licence says
        whether texts may be passed on: then they are not, unless somebody asks to see them.
    task_sample
        Which tasks of their set people did, where they did a sample of them.
    language, expires
        Declared language of the people, and the day from which on it stands for nobody.
    load
        How its files are read, where the manifest says so.
    batch_by, batches, manifest
        What makes a batch of its people (``date``, ``participant`` or a field of the sessions), how
        many there are by date or participant, and the file that says so.
    scorable, scorable_profile
        Frozen set of scored features and the profile that it is one of.
    part
        Which of its sessions are read (see `usi.corpora.parts`); ``None``: all.
    declared
        Whether it has a manifest.
    """

    name: str
    paths: tuple[Path, ...]
    surveys: Path | None = None
    survey_design: SurveyDesign | None = None
    synthetic: bool = False
    licence: str | None = None
    research_only: bool = False
    redistribute: bool | None = None
    terms: str | None = None
    task_sample: str | None = None
    language: str | None = None
    expires: date | None = None
    load: LoadKeys = field(default_factory=LoadKeys)
    batch_by: str | None = None
    batches: int | None = None
    manifest: str = ""
    scorable: tuple[str, ...] | None = None
    scorable_profile: str | None = None
    part: Part | None = None
    declared: bool = False

    def load_options(self, given: LoadOptions) -> LoadOptions:
        """Options of reading it: what its manifest says goes before what the caller gives."""
        keys = self.load.model_dump(exclude_defaults=True)
        if keys.keys() & {"user_role", "user_speaker"}:
            keys = {"user_role": None, "user_speaker": None, "flip": False, **keys}
        return replace(given, **keys) if keys else given


def workspace_folder(start: Path | None = None) -> Path | None:
    """The nearest ``human_corpus/`` at or above a folder (default: the working folder)."""
    start = Path.cwd() if start is None else start
    for folder in (start, *start.parents):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return None


def corpus_names(start: Path | None = None) -> tuple[str, ...]:
    """Names of the references of the workspace, sorted."""
    folder = workspace_folder(start)
    if folder is None:
        return ()
    return tuple(sorted(p.name for p in folder.iterdir() if p.is_dir() and p.name[0] != "."))


def corpus_folder(name: str, *, start: Path | None = None) -> Path:
    """Folder of a named corpus, or of a path that is one.

    Raises
    ------
    InputError
        Where there is none, with near matches.
    """
    path = Path(name)
    if path.is_dir():
        return path
    folder = workspace_folder(start)
    # A name is one folder name: nothing that leads out of human_corpus/.
    if folder is not None and path.name == name and name not in ("", ".", ".."):
        found = folder / name
        if found.is_dir():
            return found
    raise InputError(_not_found(name, corpus_names(start)), file=name)


def resolve(corpus: str | Path, *, start: Path | None = None, held_out: bool = False) -> Corpus:
    """Find a reference.

    Parameters
    ----------
    corpus
        A file or folder, or the name of a folder under ``human_corpus/`` of the workspace; a path
        that exists goes before a name. ``NAME@PART`` is a part of a corpus that was split.
    start
        Where to look for the workspace upwards; default: the working folder.
    held_out
        Whether the part ``held-out`` may be read: only by what gates.

    Raises
    ------
    InputError
        Where there is neither, with near matches, or where its manifest can't be read.
    UsageError
        Where it names a part that does not exist, or the held-out part without leave.
    """
    path = Path(corpus)
    if str(corpus) == STDIN:
        return Corpus(name="stdin", paths=(path,))
    if path.exists():
        return _from_path(path, None)
    name, at, part = str(corpus).rpartition("@")
    if at and name and part:
        if part == HELD_OUT and not held_out:
            raise UsageError(
                f"the part {HELD_OUT!r} is kept for decisions: only usi gate reads it "
                f"(usi score SIM --human {name}@{HELD_OUT} --gate A|B|C|gate.toml). Develop "
                f"against --human {name}, which leaves it out"
            )
        return _from_path(corpus_folder(name, start=start), part)
    return _from_path(corpus_folder(str(corpus), start=start), None)


def _not_found(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    listed = f" References of this workspace: {', '.join(known)}." if known else ""
    return f"there is no such file or folder, nor a {FOLDER}/{name[:80]}/{hint}{listed}"


def _from_path(path: Path, part: str | None) -> Corpus:
    home = path if path.is_dir() else path.parent
    manifest = home / MANIFEST
    data = read_manifest(manifest) if manifest.is_file() else Manifest()
    surveys = next((p for p in (home / SURVEYS, path.parent / SURVEYS) if p.is_dir()), None)
    if data.surveys:
        surveys = _member(home, data.surveys, manifest, "surveys")
    paths: tuple[Path, ...] = (path,)
    if path.is_dir() and data.files:
        paths = tuple(_member(home, name, manifest) for name in data.files)
    default = path.resolve().name if path.is_dir() else simulator_label(path.name)
    name = data.name or default
    chosen = choose_part(home, data, part, file=str(manifest))
    return Corpus(
        name=f"{name}@{part}" if part else name,
        paths=paths,
        surveys=surveys,
        survey_design=data.survey_design,
        synthetic=data.synthetic,
        licence=data.licence or None,
        terms=data.terms or None,
        research_only=data.research_only,
        redistribute=data.passed_on,
        task_sample=data.task_sample or None,
        language=data.language,
        expires=data.expires,
        load=data.load,
        batch_by=data.batch_by,
        batches=data.batches,
        manifest=str(manifest),
        scorable=data.scorable.features if data.scorable else None,
        scorable_profile=data.scorable.profile if data.scorable else None,
        part=chosen,
        declared=manifest.is_file(),
    )


def terms_near(path: str | Path) -> bool | None:
    """Whether the texts of a simulator's file may be passed on: as a manifest of its folders says.

    Without a manifest they may, since a program wrote them. A manifest is of a human corpus.
    """
    path = Path(path)
    near = [folder / MANIFEST for folder in (path, *path.parents[:2])]
    manifest = next((file for file in near if file.is_file()), None)
    if manifest is None:
        return True
    try:
        data = read_manifest(manifest)
    except UsiError:  # nobody asked for it, and what it says is not known
        return None
    return data.passed_on


def _member(home: Path, name: str, manifest: Path, key: str = "sessions") -> Path:
    check_inside(name, str(manifest), key)
    path = home / name
    if not path.exists():
        raise InputError(f"there is no {name!r} here", file=str(manifest), field=key)
    if not path.resolve().is_relative_to(home.resolve()):
        raise InputError(
            f"{name!r} is a link that leads out of the corpus folder",
            file=str(manifest),
            field=key,
        )
    return path
