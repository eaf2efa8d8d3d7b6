/**
 * The renderer's calls to main, and main's pushes to the renderer: one typed interface,
 * carried by a MessagePort (Electron) or a WebSocket (browser). Every call's
 * arguments are validated at the boundary (`rpc-arguments.ts`). A failed call rejects with
 * ErrorData.
 */
import type { AnswerTo, AskedType, OrderOf } from '../orders/orders.ts';
import type { BucketQuery } from '../buckets/bucket-query.ts';
import type { BucketTable } from '../buckets/bucket-table.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CatchUp } from '../records/catch-up.ts';
import type { DataSetStatus } from './data-set-status.ts';
import type { FolderListing } from './folder-listing.ts';
import type { FigureBegin, FigurePage, FigureStatus } from './figure-status.ts';
import type { ErrorData } from '../errors/errors.ts';
import type { MeasuredQuery, MeasuredStep } from '../forecast/measured-step.ts';
import type { PointForecast } from '../forecast/run-forecast.ts';
import type { PlanRequest } from '../forecast/plan-request.ts';
import type { WhatIf, WhatIfRequest } from '../forecast/what-if.ts';
import type { StepPlan } from '../forecast/step-plan.ts';
import type { ExperimentSpec } from '../spec/experiment-spec.ts';
import type { WrittenSpec } from '../spec/written-spec.ts';
import type { PieceFormat } from '../records/export-format.ts';
import type { NetworkStatus } from '../machines/link-status.ts';
import type { NodeEdit, NodeStatus, SupervisorLog } from '../machines/node-status.ts';
import type { JournalEntry } from '../records/journal-entry.ts';
import type { ComparedRun } from '../comparison/compared-run.ts';
import type { OpenQuestion, QuestionAnswer } from '../machines/ssh-question.ts';
import type {
  BinsPiece,
  BinsQuery,
  ExportPiece,
  ExportPlace,
  IterationPlace,
  IterationsPiece,
  TracedStretch,
  TracePiece,
  TracePlace,
} from './run-pieces.ts';
import type { NoteDraft, RunNote } from '../run-query/run-note.ts';
import type {
  RunMatch,
  RunPage,
  RunPageQuery,
  RunVocabulary,
} from '../run-query/run-page.ts';
import type { SettingsState, SettingValue } from '../settings/setting.ts';
import type { ToldAlert } from '../alerts/told-alert.ts';
import type { RunDetail, RunSummary } from './run-summary.ts';
import type { SweepEdit } from '../sweep/sweep-edit.ts';
import type { SweepCheck, SweepRequest } from '../sweep/sweep-request.ts';
import type { SweepDetail, SweepSummary } from '../sweep/sweep-status.ts';
import type { MachineQuery } from '../utilisation/machine-query.ts';
import type { MachineTable } from '../utilisation/machine-table.ts';
import type { TerminalApi } from './terminal.ts';

export interface AppInfo {
  readonly version: string;
  readonly host: 'electron' | 'browser';
  readonly platform: string;
  readonly cores: number;
  readonly hostname: string;
  readonly home: string;
}

export interface Preset {
  readonly id: string;
  readonly title: string;
  /** The goal that it is a way to, if it stands for one. */
  readonly goal: string | undefined;
  readonly description: string;
  readonly spec: ExperimentSpec;
  /** The preset's own text, comments included. */
  readonly yaml: string;
}

type SpecCheck =
  | { readonly ok: true; readonly spec: ExperimentSpec; readonly yaml: string }
  | { readonly ok: false; readonly error: ErrorData };

/** The space that the history takes on the disk. */
export interface HistoryStatus {
  readonly bytes: number;
  readonly deleted: { readonly runs: number; readonly bytes: number };
}

interface DeletedRuns {
  readonly changed: readonly string[];
  /** Reasons why others were left. */
  readonly refused: readonly ErrorData[];
}

export interface PurgeResult {
  /** Bytes of the history. */
  readonly before: number;
  readonly after: number;
  /** Reasons why some runs, or some of their space, are left. */
  readonly refused: readonly ErrorData[];
}

/** Facts that are the same for every page. */
export interface CoreApi {
  info(): Promise<AppInfo>;
  catalogue(): Promise<Catalogue>;
  presets(): Promise<readonly Preset[]>;
  /** YAML or JSON text → the validated spec, or its first error. */
  checkSpec(text: string): Promise<SpecCheck>;
  /**
   * A spec as YAML text, shown beside the form.
   * @param written the text that it changes, whose comments stay; default: it is written anew
   */
  specToYaml(spec: unknown, written?: WrittenSpec): Promise<string>;
  /** @param switchesOf a run whose switches are repeated at the same iterations */
  launch(spec: unknown, switchesOf?: string): Promise<RunSummary>;
  /** Newest first. */
  sweeps(): Promise<readonly SweepSummary[]>;
  sweep(id: string): Promise<SweepDetail>;
  /** The points of a sweep, each checked as a launch would check it, or the first error. */
  checkSweep(request: SweepRequest): Promise<SweepCheck>;
  /** Checks and stores a sweep; the app drives it. */
  startSweep(request: SweepRequest): Promise<SweepSummary>;
  /**
   * Stops a sweep. Resolves when its runs in progress have ended.
   * @param finishesRuns whether these come to their end; otherwise they are stopped, and run again
   * when the sweep is resumed
   */
  stopSweep(id: string, finishesRuns: boolean): Promise<void>;
  resumeSweep(id: string): Promise<void>;
  editSweep(id: string, edit: SweepEdit): Promise<void>;
  /** Deletes a sweep for good. Its runs are kept. */
  removeSweep(id: string): Promise<void>;
  /** Launches the same spec with the same switches at the same iterations. */
  relaunch(run: string): Promise<RunSummary>;
  /**
   * Gives an order to a run. One that is refused rejects before it reaches any rank. A stop
   * resolves when the run has ended, at once if it has.
   */
  order<T extends AskedType>(run: string, order: OrderOf<T>): Promise<AnswerTo<T>>;
  /** Reads records of an ended run that its machines have and the store lacks. */
  fetchMissing(run: string): Promise<void>;
  runs(query: {
    search?: string;
    limit?: number;
    offset?: number;
    deleted?: boolean;
    /** Whether runs that have not ended are listed, too, whatever the limit. */
    live?: boolean;
  }): Promise<readonly RunSummary[]>;
  /** A page of the list of runs, filtered, sorted and grouped. */
  runPage(query: RunPageQuery): Promise<RunPage<RunSummary>>;
  /** Ids of all runs of a list, newest first. */
  matchingRuns(query: RunMatch): Promise<readonly string[]>;
  /** Words that filters of the history can be completed with. */
  runVocabulary(): Promise<RunVocabulary>;
  /**
   * Gives runs a tag, or takes it from them.
   * @returns the runs that have changed
   */
  tagRuns(
    runs: readonly string[],
    tag: string,
    isTagged: boolean,
  ): Promise<readonly string[]>;
  /** Gives a run a title; without one, it has its spec's name again. */
  renameRun(run: string, title?: string): Promise<void>;
  notes(run: string): Promise<readonly RunNote[]>;
  /** Writes a note, or changes the one with its id. */
  writeNote(run: string, note: NoteDraft): Promise<RunNote>;
  removeNote(run: string, note: number): Promise<RunNote>;
  run(id: string): Promise<RunDetail>;
  /**
   * The first records with from ≤ iteration < to, by iteration and rank: `most` of them, or fewer
   * if they are large.
   */
  iterations(
    run: string,
    range: IterationPlace & { to: number; most: number },
  ): Promise<IterationsPiece>;
  /** Bins of the iterations from ≤ i < to, and of those that share their first and last bin. */
  bins(run: string, query: BinsQuery): Promise<BinsPiece>;
  /**
   * A page of the merged log (events and what ranks printed) after a sequence, in the order of
   * arrival. Empty if there is nothing more yet.
   */
  runLog(run: string, after: number): Promise<readonly JournalEntry[]>;
  /** Iterations of a run that were traced. */
  tracedIterations(run: string): Promise<readonly TracedStretch[]>;
  /** A piece of the traces with from ≤ iteration < to, by iteration and rank. */
  trace(run: string, place: TracePlace): Promise<TracePiece>;
  /** The buckets in a part of a run: what each cost and kept back. */
  buckets(run: string, query: BucketQuery): Promise<BucketTable>;
  /** The machines in a part of a run: what they did beside the step. */
  machines(run: string, query: MachineQuery): Promise<MachineTable>;
  /** Soft delete, and its undo. */
  setDeleted(run: string, deleted: boolean): Promise<void>;
  /** Soft delete of many runs, and its undo; those that cannot be are left. */
  setAllDeleted(runs: readonly string[], deleted: boolean): Promise<DeletedRuns>;
  /** Returns the space that all runs take on the disk. */
  history(): Promise<HistoryStatus>;
  /** Deletes deleted runs for good: these, or all. */
  purge(runs?: readonly string[]): Promise<PurgeResult>;
  /** Figures of papers, in the order of gradwire reproduce list. */
  figures(): Promise<readonly FigureStatus[]>;
  /** The newest result of a figure in this home. */
  figurePage(figure: string): Promise<FigurePage>;
  /** Begins to reproduce a figure; one at a time. */
  startFigure(figure: string, begin: FigureBegin): Promise<void>;
  /** Stops the figure that is being reproduced, and resolves when its run has ended. */
  stopFigure(): Promise<void>;
  /** Predicted steps, as `gradwire plan` gives them; times the methods if nobody has yet. */
  planStep(request: PlanRequest): Promise<StepPlan>;
  /** A sweep's point predicted, by its number; without varied keys the spec itself is point 1. */
  predictPoint(request: SweepRequest, point: number): Promise<PointForecast>;
  /** Recorded iterations of a run, replayed under another exchange, network or world. */
  whatIf(request: WhatIfRequest): Promise<WhatIf>;
  /** Mean steps of runs of a model, newest first. */
  measuredSteps(query: MeasuredQuery): Promise<readonly MeasuredStep[]>;
  /** A run as comparisons need it, whatever its length. */
  comparedRun(run: string): Promise<ComparedRun>;
  /** A piece of the run as a file; without a place: the first. */
  exportRun(
    run: string,
    format: PieceFormat,
    place?: ExportPlace,
  ): Promise<ExportPiece>;
  /** Catch-ups that happened while no page was open. Each is returned once. */
  catchUps(): Promise<readonly CatchUp[]>;
  /** Notices of the time without an open page. Each is returned once. */
  notices(): Promise<readonly ErrorData[]>;
  /** Starts pushing records of this run; answers with what is stored so far. */
  watch(run: string): Promise<RunDetail>;
  unwatch(run: string): Promise<void>;
  /** Lists the local computer and the machines that were added. */
  nodes(): Promise<readonly NodeStatus[]>;
  /** Hosts of ~/.ssh/config that can be added by their names. */
  importableHosts(): Promise<readonly string[]>;
  addNode(entry: unknown): Promise<void>;
  /** Changes a machine's entry, which may have another name. */
  editNode(name: string, entry: unknown, edit: NodeEdit): Promise<void>;
  /** Forgets a machine; what was deployed there stays. */
  removeNode(name: string): Promise<void>;
  /** The last lines of the log of a machine's supervisor. */
  nodeLog(name: string): Promise<SupervisorLog>;
  /** Inspects a machine, or this computer, and updates its status. Writes nothing there. */
  checkNode(name: string): Promise<void>;
  /** Deploys the agent to a machine; a run does so by itself. */
  deployNode(name: string): Promise<void>;
  /** Removes everything of Gradwire from a machine. */
  uninstallNode(name: string): Promise<void>;
  /** Stops a run on a machine, whoever started it. */
  stopOn(node: string, run: string): Promise<void>;
  /** Cancels the machine's current activity. */
  cancelNode(name: string): Promise<void>;
  /** The status of the links between machines. */
  network(): Promise<NetworkStatus>;
  /** Measures links, pair by pair; resolves when all are done or it was cancelled. */
  measureNetwork(): Promise<void>;
  cancelNetwork(): Promise<void>;
  /** Public data sets, and which of them are here. */
  dataSets(): Promise<readonly DataSetStatus[]>;
  /** Starts or resumes a download; its progress is pushed. */
  fetchDataSet(id: string): Promise<void>;
  cancelDataSet(id: string): Promise<void>;
  /**
   * Folders and Python files in a folder of the computer on which the app runs.
   * @param path from the user's home, if it is relative; empty: that home
   */
  folder(path: string): Promise<FolderListing>;
  /** Questions of SSH connections that wait for an answer. */
  questions(): Promise<readonly OpenQuestion[]>;
  answer(question: number, answer: QuestionAnswer): Promise<void>;
  /** The settings of the home. */
  settings(): Promise<SettingsState>;
  /** Changes a setting; without a value it has its default again. */
  changeSetting(key: string, value?: SettingValue): Promise<void>;
}

/** All calls that a page may make. */
export interface AppApi extends CoreApi, TerminalApi {}

/** Events that main pushes to the renderer. */
export interface AppEvents {
  /** A run was created or its state, counters or name changed. */
  runChanged(summary: RunSummary): void;
  /** New records of a watched run, at most ten times a second. */
  records(run: string, entries: readonly JournalEntry[]): void;
  /** Many records were read that a run made while the app did not follow it. */
  caughtUp(catchUp: CatchUp): void;
  /** Something outside a run needs the user's attention. */
  notice(error: ErrorData): void;
  /** All machines, at most ten times a second. */
  nodesChanged(nodes: readonly NodeStatus[]): void;
  /** Links between machines, whenever one was measured. */
  networkChanged(network: NetworkStatus): void;
  /** Public data sets, at most ten times a second. */
  dataSetsChanged(sets: readonly DataSetStatus[]): void;
  /** Some sweep was made, changed, or has come further. */
  sweepsChanged(): void;
  /** Deleted runs are gone for good. */
  historyPurged(): void;
  /** An alert was raised of any run. */
  alert(alert: ToldAlert): void;
  /** A setting was changed, by whichever page or command. */
  settingsChanged(settings: SettingsState): void;
  /** All questions that wait for an answer. */
  questionsChanged(questions: readonly OpenQuestion[]): void;
}

/** Commands of the host's native menu, forwarded to the renderer. */
export const HOST_COMMANDS = [
  'show-new',
  'show-start',
  'show-runs',
  'show-sweeps',
  'show-compare',
  'show-plan',
  'show-figures',
  'show-settings',
  'show-shortcuts',
  'show-tour',
  'show-cluster',
] as const;
export type HostCommand = (typeof HOST_COMMANDS)[number];
