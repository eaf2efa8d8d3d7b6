/**
 * The renderer's calls to main, and main's pushes to the renderer: one typed interface,
 * carried by a MessagePort (Electron) or a WebSocket (browser). Every call's
 * arguments are validated at the boundary by `rpcArguments`. A failed call rejects with
 * ErrorData.
 */
import {
  runOrderSchema,
  type AnswerTo,
  type AskedType,
  type OrderOf,
} from '../orders/orders.ts';
import { z } from 'zod';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CatchUp } from '../records/catch-up.ts';
import type { DataSetStatus } from './data-set-status.ts';
import type { ErrorData } from '../errors/errors.ts';
import type { ExperimentSpec } from '../spec/experiment-spec.ts';
import { EXPORT_FORMAT_IDS, type ExportFormat } from '../records/export-format.ts';
import type { NetworkStatus } from '../machines/link-status.ts';
import type { MetricKind } from '../records/metric.ts';
import type { NodeEdit, NodeStatus, SupervisorLog } from '../machines/node-status.ts';
import type { JournalEntry } from '../records/journal-entry.ts';
import type { QueuedRecord } from '../records/queued.ts';
import type { TraceRecord } from '../records/trace.ts';
import type { RunEvent } from '../records/record-kinds.ts';
import type { ComparedRun } from '../comparison/compared-run.ts';
import type { RunState } from '../records/run-state.ts';
import { runIdSchema } from '../checks/run-id.ts';
import type { OpenQuestion, QuestionAnswer } from '../machines/ssh-question.ts';
import { MOST_TYPED, terminalSizeSchema, type TerminalApi } from './terminal.ts';

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
  readonly description: string;
  readonly spec: ExperimentSpec;
  /** The preset's own text, comments included. */
  readonly yaml: string;
}

/** A run as shown in lists. */
export interface RunSummary {
  readonly id: string;
  readonly name: string;
  readonly state: RunState;
  readonly createdAt: number;
  readonly endedAt?: number | undefined;
  /** Iterations finished by every rank. */
  readonly iterations: number;
  readonly iterationsPlanned: number;
  readonly ranks: number;
  /** Machines with ranks of it, by the names that they had; the leading one first. */
  readonly nodes: readonly string[];
  readonly model: string;
  readonly dataset: string;
  /** The emulated network: `emulated 1 Gbit/s, 50 µs`; default: the real one. */
  readonly emulated?: string | undefined;
  /** The methods used, in order, as the switches changed them. */
  readonly methods: readonly string[];
  readonly loss?: number | undefined;
  readonly metric?: number | undefined;
  /** The model's metric; default: accuracy. */
  readonly metricKind?: MetricKind | undefined;
  readonly error?: ErrorData | undefined;
  /** The run's job, while it waits for nodes of a cluster to start or resume. */
  readonly queue?: QueuedRecord | undefined;
  /** Machines that were out of reach when it ended, and have records that are not stored. */
  readonly missing?: readonly string[] | undefined;
  /** Bytes that its records take on the disk; absent until they have been counted. */
  readonly bytes?: number | undefined;
  readonly deleted: boolean;
}

export interface RunDetail extends RunSummary {
  readonly spec: ExperimentSpec;
  /** Events in order of their sequence. */
  readonly events: readonly RunEvent[];
  /**
   * Earlier events that are left out because there are very many: measurements and notices; the
   * log has all of them (`runLog`).
   */
  readonly omittedEvents?: number | undefined;
  readonly lastSequence: number;
}

type SpecCheck =
  | { readonly ok: true; readonly spec: ExperimentSpec; readonly yaml: string }
  | { readonly ok: false; readonly error: ErrorData };

/** The space that the history takes on the disk. */
export interface HistoryStatus {
  readonly bytes: number;
  readonly deleted: { readonly runs: number; readonly bytes: number };
}

export interface PurgeResult {
  /** Bytes of the history. */
  readonly before: number;
  readonly after: number;
  /** Reasons why some runs, or some of their space, are left. */
  readonly refused: readonly ErrorData[];
}

/** The place where a piece of iteration records begins. */
export interface IterationPlace {
  /** An iteration. */
  readonly from: number;
  /** The first rank of that iteration; default: 0. */
  readonly fromRank?: number | undefined;
}

/** The place where a piece of an export begins. Made by main. */
export interface ExportPlace extends IterationPlace {
  readonly part: 'events' | 'log' | 'iterations';
  /** Nothing of the part has been written yet. */
  readonly isFirst: boolean;
}

export interface ExportPiece {
  readonly text: string;
  /** The part of the file that ends with it, 0…1, about. */
  readonly done: number;
  /** Undefined after the last piece. */
  readonly next?: ExportPlace | undefined;
}

/**
 * Most iteration records of one answer: some 2 MB, and 50 ms of main's thread, during which it
 * does nothing else. Records of many ranks are larger, and an answer then has fewer.
 */
export const MOST_ITERATION_RECORDS = 2048;

export interface IterationsPiece {
  readonly entries: readonly JournalEntry[];
  /** The beginning of the next piece; undefined after the last one. */
  readonly next?: IterationPlace | undefined;
}

/** A request for the bins of a chart. */
const binsQuerySchema = z.strictObject({
  from: z.int().min(0),
  /** Exclusive. */
  to: z.int().min(0),
  /** Iterations of a bin, a power of two. Bins begin at its multiples. */
  width: z
    .int()
    .min(1)
    .refine((width) => Number.isInteger(Math.log2(width)), 'must be a power of two'),
  /** Default: all ranks together. */
  rank: z.int().min(0).optional(),
});
export type BinsQuery = Readonly<z.infer<typeof binsQuerySchema>>;

/** Most bins of one answer: a megabyte. */
export const MOST_BINS = 2000;

export interface BinsPiece {
  /** The first iteration of each bin, ascending. Bins without a record are left out. */
  readonly starts: readonly number[];
  /** CELL_COUNT cells for each (`chart-cells.ts`); null: not finite, because nothing is in it. */
  readonly cells: readonly (number | null)[];
  /** The run's last record that is in them, or could be. */
  readonly lastSequence: number;
  /** The first iteration of the next piece; undefined after the last one. */
  readonly next?: number | undefined;
}

/** Consecutive iterations that were traced. */
export interface TracedStretch {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Records of all ranks. */
  readonly records: number;
}

export interface TracePlace extends IterationPlace {
  /** Exclusive. */
  readonly to: number;
}

export interface TracePiece {
  readonly records: readonly TraceRecord[];
  /** Begin of the next piece; undefined after the last one. */
  readonly next?: IterationPlace | undefined;
}

/** Facts that are the same for every page. */
export interface CoreApi {
  info(): Promise<AppInfo>;
  catalogue(): Promise<Catalogue>;
  presets(): Promise<readonly Preset[]>;
  /** YAML or JSON text → the validated spec, or its first error. */
  checkSpec(text: string): Promise<SpecCheck>;
  /** A spec as YAML text, shown beside the form. */
  specToYaml(spec: unknown): Promise<string>;
  /** @param switchesOf a run whose switches are repeated at the same iterations */
  launch(spec: unknown, switchesOf?: string): Promise<RunSummary>;
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
  }): Promise<readonly RunSummary[]>;
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
  /** Soft delete, and its undo. */
  setDeleted(run: string, deleted: boolean): Promise<void>;
  /** Returns the space that all runs take on the disk. */
  history(): Promise<HistoryStatus>;
  /** Deletes all deleted runs for good. */
  purge(): Promise<PurgeResult>;
  /** A run as comparisons need it, whatever its length. */
  comparedRun(run: string): Promise<ComparedRun>;
  /** A piece of the run as a file; without a place: the first. */
  exportRun(
    run: string,
    format: ExportFormat,
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
  /** Questions of SSH connections that wait for an answer. */
  questions(): Promise<readonly OpenQuestion[]>;
  answer(question: number, answer: QuestionAnswer): Promise<void>;
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
  /** Deleted runs are gone for good. */
  historyPurged(): void;
  /** All questions that wait for an answer. */
  questionsChanged(questions: readonly OpenQuestion[]): void;
}

const text = z.string().max(1_000_000);
const nodeName = z.string().min(1).max(64);
const dataSet = z.string().min(1).max(64);
const terminal = z.int().min(1);

/** Argument tuples by call, checked at the boundary. */
export const rpcArguments = {
  info: z.tuple([]),
  catalogue: z.tuple([]),
  presets: z.tuple([]),
  checkSpec: z.tuple([text]),
  specToYaml: z.tuple([z.unknown()]),
  launch: z.tuple([z.unknown(), runIdSchema.optional()]),
  relaunch: z.tuple([runIdSchema]),
  order: z.tuple([runIdSchema, runOrderSchema]),
  fetchMissing: z.tuple([runIdSchema]),
  runs: z.tuple([
    z.strictObject({
      search: z.string().max(200).optional(),
      limit: z.int().min(1).max(1000).optional(),
      offset: z.int().min(0).optional(),
      deleted: z.boolean().optional(),
    }),
  ]),
  run: z.tuple([runIdSchema]),
  iterations: z.tuple([
    runIdSchema,
    z.strictObject({
      from: z.int().min(0),
      fromRank: z.int().min(0).optional(),
      to: z.int().min(0),
      most: z.int().min(1).max(MOST_ITERATION_RECORDS),
    }),
  ]),
  bins: z.tuple([runIdSchema, binsQuerySchema]),
  runLog: z.tuple([runIdSchema, z.int().min(0)]),
  tracedIterations: z.tuple([runIdSchema]),
  trace: z.tuple([
    runIdSchema,
    z.strictObject({
      from: z.int().min(0),
      fromRank: z.int().min(0).optional(),
      to: z.int().min(0),
    }),
  ]),
  setDeleted: z.tuple([runIdSchema, z.boolean()]),
  history: z.tuple([]),
  purge: z.tuple([]),
  comparedRun: z.tuple([runIdSchema]),
  exportRun: z.tuple([
    runIdSchema,
    z.enum(EXPORT_FORMAT_IDS),
    z
      .strictObject({
        part: z.enum(['events', 'log', 'iterations']),
        from: z.int().min(0),
        fromRank: z.int().min(0).optional(),
        isFirst: z.boolean(),
      })
      .optional(),
  ]),
  catchUps: z.tuple([]),
  notices: z.tuple([]),
  watch: z.tuple([runIdSchema]),
  unwatch: z.tuple([runIdSchema]),
  nodes: z.tuple([]),
  importableHosts: z.tuple([]),
  addNode: z.tuple([z.unknown()]),
  editNode: z.tuple([
    nodeName,
    z.unknown(),
    z.strictObject({
      shown: z.unknown().optional(),
      sameMachine: z.boolean().optional(),
    }),
  ]),
  removeNode: z.tuple([nodeName]),
  nodeLog: z.tuple([nodeName]),
  checkNode: z.tuple([nodeName]),
  deployNode: z.tuple([nodeName]),
  uninstallNode: z.tuple([nodeName]),
  stopOn: z.tuple([nodeName, runIdSchema]),
  cancelNode: z.tuple([nodeName]),
  network: z.tuple([]),
  measureNetwork: z.tuple([]),
  cancelNetwork: z.tuple([]),
  dataSets: z.tuple([]),
  fetchDataSet: z.tuple([dataSet]),
  cancelDataSet: z.tuple([dataSet]),
  questions: z.tuple([]),
  answer: z.tuple([
    z.int().min(1),
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('refuse') }),
      z.strictObject({ type: z.literal('accept') }),
      z.strictObject({
        type: z.literal('secrets'),
        answers: z.array(z.string().max(10_000)).max(20),
      }),
    ]),
  ]),
  openTerminal: z.tuple([terminal, nodeName, terminalSizeSchema]),
  writeTerminal: z.tuple([terminal, z.string().max(MOST_TYPED)]),
  resizeTerminal: z.tuple([terminal, terminalSizeSchema]),
  closeTerminal: z.tuple([terminal]),
} as const satisfies Record<keyof AppApi, z.ZodType>;

/** Commands of the host's native menu, forwarded to the renderer. */
export const HOST_COMMANDS = [
  'new-experiment',
  'show-start',
  'show-runs',
  'show-cluster',
] as const;
export type HostCommand = (typeof HOST_COMMANDS)[number];
