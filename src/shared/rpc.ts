/**
 * What the renderer may ask of main, and what main tells the renderer: one typed
 * interface, carried by a MessagePort (Electron) or a WebSocket (browser). Every call's
 * arguments are validated at the boundary by `rpcArguments`. A failed call rejects with
 * ErrorData.
 */
import { z } from 'zod';
import type { Catalogue } from './catalogue.ts';
import type { CatchUp } from './catch-up.ts';
import type { DataSetStatus } from './data-set-status.ts';
import type { ErrorData } from './errors.ts';
import { RESIDUAL_POLICIES, type PlanSwitch } from './exchange-plan.ts';
import type { ExperimentSpec } from './experiment-spec.ts';
import type { NetworkStatus } from './link-status.ts';
import type { MetricKind } from './metric.ts';
import type { NodeEdit, NodeStatus } from './node-status.ts';
import type { JournalEntry, QueuedRecord, RunEvent } from './records.ts';
import type { OpenQuestion, QuestionAnswer } from './ssh-question.ts';
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

export type RunState = 'starting' | 'running' | 'completed' | 'stopped' | 'failed';

export const hasEnded = (state: RunState): boolean =>
  state !== 'starting' && state !== 'running';

/** One run as lists show it. */
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
  readonly model: string;
  readonly dataset: string;
  /** The methods used, in order, as the switches changed them. */
  readonly methods: readonly string[];
  readonly loss?: number | undefined;
  readonly metric?: number | undefined;
  /** What it is measured by; accuracy where it is missing. */
  readonly metricKind?: MetricKind | undefined;
  readonly error?: ErrorData | undefined;
  /** While it waits for nodes of a cluster, to begin or to go on: what is known of that. */
  readonly queue?: QueuedRecord | undefined;
  readonly deleted: boolean;
}

export interface RunDetail extends RunSummary {
  readonly spec: ExperimentSpec;
  /** In order of their sequence. */
  readonly events: readonly RunEvent[];
  readonly lastSequence: number;
}

export type SpecCheck =
  | { readonly ok: true; readonly spec: ExperimentSpec; readonly yaml: string }
  | { readonly ok: false; readonly error: ErrorData };

export type ExportFormat = 'json' | 'csv';

/** What is the same for every page. */
export interface CoreApi {
  info(): Promise<AppInfo>;
  catalogue(): Promise<Catalogue>;
  presets(): Promise<readonly Preset[]>;
  /** YAML or JSON text → the validated spec, or the one error that it has. */
  checkSpec(text: string): Promise<SpecCheck>;
  /** A spec as YAML text, for the form's other side. */
  specToYaml(spec: unknown): Promise<string>;
  launch(spec: unknown): Promise<RunSummary>;
  /** Same spec and the same switch schedule, as it happened. */
  relaunch(run: string): Promise<RunSummary>;
  stop(run: string): Promise<void>;
  /** Takes effect at the next fence. Refused (rejects) before any rank hears of it. */
  switchPlan(
    run: string,
    change: Record<string, unknown>,
    options: { residual?: 'flush' | 'drop' },
  ): Promise<PlanSwitch>;
  runs(query: {
    search?: string;
    limit?: number;
    offset?: number;
    deleted?: boolean;
  }): Promise<readonly RunSummary[]>;
  run(id: string): Promise<RunDetail>;
  /** Iterations' records with from ≤ iteration < to, thinned to every `stride`-th. */
  iterations(
    run: string,
    range: { from: number; to: number; stride: number },
  ): Promise<readonly JournalEntry[]>;
  /**
   * Of the merged log (events and what ranks printed) a page after a sequence, in the order
   * of arrival. Empty: there is no more yet.
   */
  runLog(run: string, after: number): Promise<readonly JournalEntry[]>;
  /** Soft delete, and its undo. */
  setDeleted(run: string, deleted: boolean): Promise<void>;
  exportRun(run: string, format: ExportFormat): Promise<string>;
  /** What was caught up with while there was no page to be told. Each is told once. */
  catchUps(): Promise<readonly CatchUp[]>;
  /** Records of this run are pushed from now on; answers with what is stored so far. */
  watch(run: string): Promise<RunDetail>;
  unwatch(run: string): Promise<void>;
  /** This computer and the machines that were added. */
  nodes(): Promise<readonly NodeStatus[]>;
  /** Hosts of ~/.ssh/config that can be added by their names. */
  importableHosts(): Promise<readonly string[]>;
  addNode(entry: unknown): Promise<void>;
  /** Changes a machine's entry, which may have another name. */
  editNode(name: string, entry: unknown, edit: NodeEdit): Promise<void>;
  /** Forgets a machine; what was deployed there stays. */
  removeNode(name: string): Promise<void>;
  /** What a machine is like: in its status afterwards. Nothing is written there. */
  checkNode(name: string): Promise<void>;
  /** Brings the agent to a machine; a run does it by itself. */
  deployNode(name: string): Promise<void>;
  /** Leaves nothing of Gradwire on a machine. */
  uninstallNode(name: string): Promise<void>;
  /** Gives up what is being done there. */
  cancelNode(name: string): Promise<void>;
  /** What is known of the links between machines. */
  network(): Promise<NetworkStatus>;
  /** Measures them, pair by pair; resolves when all are through or it was cancelled. */
  measureNetwork(): Promise<void>;
  cancelNetwork(): Promise<void>;
  /** Public data sets, and which of them are here. */
  dataSets(): Promise<readonly DataSetStatus[]>;
  /** Begins to fetch one, or goes on; how it goes is pushed. */
  fetchDataSet(id: string): Promise<void>;
  cancelDataSet(id: string): Promise<void>;
  /** Questions of SSH connections that wait for an answer. */
  questions(): Promise<readonly OpenQuestion[]>;
  answer(question: number, answer: QuestionAnswer): Promise<void>;
}

/** All that a page may ask. */
export interface AppApi extends CoreApi, TerminalApi {}

/** What main pushes to the renderer. */
export interface AppEvents {
  /** A run was made or changed its state, counters or name. */
  runChanged(summary: RunSummary): void;
  /** New records of a watched run, at most ten times a second. */
  records(run: string, entries: readonly JournalEntry[]): void;
  /** Much of a run has been read that was recorded while the app did not follow it. */
  caughtUp(catchUp: CatchUp): void;
  /** Something outside a run needs the user's eye. */
  notice(error: ErrorData): void;
  /** All machines, at most ten times a second. */
  nodesChanged(nodes: readonly NodeStatus[]): void;
  /** Links between machines, whenever one was measured. */
  networkChanged(network: NetworkStatus): void;
  /** Public data sets, at most ten times a second. */
  dataSetsChanged(sets: readonly DataSetStatus[]): void;
  /** All questions that wait for an answer. */
  questionsChanged(questions: readonly OpenQuestion[]): void;
}

const runId = z.string().min(1).max(64);
const text = z.string().max(1_000_000);
const nodeName = z.string().min(1).max(64);
const dataSet = z.string().min(1).max(64);
const terminal = z.int().min(1);

/** Argument tuples by call: the gate at the boundary. */
export const rpcArguments = {
  info: z.tuple([]),
  catalogue: z.tuple([]),
  presets: z.tuple([]),
  checkSpec: z.tuple([text]),
  specToYaml: z.tuple([z.unknown()]),
  launch: z.tuple([z.unknown()]),
  relaunch: z.tuple([runId]),
  stop: z.tuple([runId]),
  switchPlan: z.tuple([
    runId,
    z.record(z.string(), z.unknown()),
    z.strictObject({ residual: z.enum(RESIDUAL_POLICIES).optional() }),
  ]),
  runs: z.tuple([
    z.strictObject({
      search: z.string().max(200).optional(),
      limit: z.int().min(1).max(1000).optional(),
      offset: z.int().min(0).optional(),
      deleted: z.boolean().optional(),
    }),
  ]),
  run: z.tuple([runId]),
  iterations: z.tuple([
    runId,
    z.strictObject({
      from: z.int().min(0),
      to: z.int().min(0),
      stride: z.int().min(1),
    }),
  ]),
  runLog: z.tuple([runId, z.int().min(0)]),
  setDeleted: z.tuple([runId, z.boolean()]),
  exportRun: z.tuple([runId, z.enum(['json', 'csv'])]),
  catchUps: z.tuple([]),
  watch: z.tuple([runId]),
  unwatch: z.tuple([runId]),
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
  checkNode: z.tuple([nodeName]),
  deployNode: z.tuple([nodeName]),
  uninstallNode: z.tuple([nodeName]),
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
