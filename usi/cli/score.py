"""``usi score``: simulators against a human reference."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli.comparing import (
    By,
    Cluster,
    Design,
    Group,
    HumanRuns,
    HumanWhere,
    OtherAgent,
    Replicates,
    SimRuns,
    SimWhere,
    Strata,
    SuccessAt,
    SurveyDesign,
    Tasks,
    TwoSampleTest,
)
from usi.cli.log_options import Config as LogConfigFile
from usi.cli.log_options import Horizon, NoClasses, Preset, Standardise, Zone
from usi.cli.options import (
    Domain,
    ExitZero,
    Files,
    Flip,
    Force,
    Format,
    Language,
    Map,
    MaxRecord,
    Name,
    Outputs,
    Print,
    Printed,
    Profile,
    Quiet,
    RunIds,
    SideName,
    UserRole,
    UserSpeaker,
)

_COMPARED = "What is compared"


def command(
    simulators: Files,
    human: Annotated[
        str | None,
        typer.Option(
            "--human",
            metavar="CORPUS",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="The reference: a path, or a name under human_corpus/.",
        ),
    ] = None,
    profile: Profile = None,
    surveys: Annotated[
        str | None,
        typer.Option(
            "--surveys",
            metavar="DIR|none",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Folder with survey_comparable_<label>.json; default: survey_data/ beside CORPUS.",
        ),
    ] = None,
    difficulty: Annotated[
        str | None,
        typer.Option(
            "--difficulty",
            metavar="frozen|none|FILE",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Task difficulties: the published map (default), none, JSON; self with tau-usi.",
        ),
    ] = None,
    run_ids: Annotated[
        RunIds | None,
        typer.Option(
            "--run-ids",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Split ids into task and run: published rule (auto, default), always, never.",
        ),
    ] = None,
    human_source: Annotated[
        SideName | None,
        typer.Option(
            "--human-source",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="How the reference is cleaned; default: by what the file is.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            show_default=False,
            rich_help_panel=_COMPARED,
            help="Seed of what is drawn at random (tau-usi has the published one).",
        ),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="A|B|C|gate.toml",
            show_default=False,
            rich_help_panel="Decide",
            help="Gate the scorecard at once (see: usi gate), with its exit codes.",
        ),
    ] = None,
    human_runs: HumanRuns = None,
    sim_runs: SimRuns = None,
    human_where: HumanWhere = None,
    sim_where: SimWhere = None,
    tasks: Tasks = None,
    design: Design = None,
    cluster: Cluster = None,
    group: Group = None,
    strata: Strata = None,
    by: By = None,
    success_at: SuccessAt = None,
    other_agent: OtherAgent = False,
    survey_design: SurveyDesign = None,
    c2st: TwoSampleTest = None,
    replicates: Replicates = None,
    outputs: Outputs = None,
    examples: Annotated[
        bool,
        typer.Option(
            "--examples/--no-examples",
            help="Keep sampled texts beside the card and in the page (never where the corpus "
            "forbids to pass them on).",
        ),
    ] = True,
    force: Force = False,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
    exit_zero: ExitZero = False,
    domain: Domain = None,
    name: Name = None,
    format_: Format = None,
    max_record: MaxRecord = None,
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    flip: Flip = False,
    map_: Map = None,
    preset: Preset = None,
    log_config: LogConfigFile = None,
    timezone: Zone = None,
    no_classes: NoClasses = False,
    horizon: Horizon = None,
    standardise: Standardise = True,
    language: Language = None,
) -> None:
    """Score simulators against a human reference.

    Each file is one simulator; with --name all files are runs of one. -o takes .json, .md,
    .html, .csv, .tau-usi.json (the published scorer's shape) and .sessions.parquet (the session
    table). A run record is written beside the scorecard. With --gate the exit code is that of
    the verdict, stdout holds it, and -o also takes .verdict.json, .verdict.md and .junit.xml.

    \b
    Examples:
      usi score sim.json --human people.json --profile tau-usi
      usi score runs/*.json --human NAME -o reports/card.json -o reports/card.md
      usi score sim.json --human NAME --gate B -o card.json -o card.junit.xml
      usi score trials.json --human trials.json --human-runs 0,1 --sim-runs 2,3
      usi score simulated.csv --human tickets.csv --preset servicenow --gate B
    """  # fmt: skip
    from dataclasses import replace

    from usi.cli.comparing import given
    from usi.cli.console import note
    from usi.cli.log_options import log_choices
    from usi.cli.scoring import Request, deliver, scored
    from usi.cli.verdicts import after_scoring
    from usi.errors import NotScorable

    decision = after_scoring(gate, outputs or (), force=force)
    request = Request(
        simulators=tuple(simulators),
        human=human,
        profile=profile,
        surveys=surveys,
        difficulty=difficulty,
        run_ids=run_ids.value if run_ids else None,
        human_source=human_source.value if human_source else None,
        seed=seed,
        domain=domain,
        name=name,
        format=format_,
        max_record=max_record,
        user_role=user_role,
        user_speaker=user_speaker,
        flip=flip,
        map=map_,
        log=log_choices(
            preset=preset,
            config=log_config,
            timezone=timezone,
            no_classes=no_classes,
            horizon=horizon,
            standardise=standardise,
            profile=profile,
        ),
        robust=given(
            human_runs=human_runs,
            simulator_runs=sim_runs,
            human_where=human_where,
            simulator_where=sim_where,
            tasks=tasks,
            design=design,
            cluster=cluster,
            group=group,
            strata=strata,
            subgroups=by,
            reward_threshold=success_at,
            other_agent=other_agent,
            survey_design=survey_design,
            c2st=c2st,
            replicates=replicates,
        ),
        subgroups=decision.subgroups,
        held_out=gate is not None,
        language=language,
        examples=examples,
        outputs=decision.scorecards,
        force=force,
    )
    try:
        done = scored(request, quiet=quiet)
        verdict = decision.verdict(done.card)
        done = replace(done, verdict=verdict)
        deliver(done, request, show=decision.show_card(print_), quiet=quiet)
    except NotScorable as error:
        if not exit_zero:
            raise
        note(f"usi: not scored: {error}")
        return
    decision.deliver(verdict, show=print_, quiet=quiet, exit_zero=exit_zero)
