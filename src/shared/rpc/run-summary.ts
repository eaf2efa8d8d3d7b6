/** A run as pages show it: in lists, and whole. */
import type { ErrorData } from '../errors/errors.ts';
import type { MetricKind } from '../records/metric.ts';
import type { RunAlert } from '../records/run-alert.ts';
import type { QueuedRecord } from '../records/queued.ts';
import type { RunEvent } from '../records/record-kinds.ts';
import type { RunState } from '../records/run-state.ts';
import type { ExperimentSpec } from '../spec/experiment-spec.ts';

/** A run as shown in lists. */
export interface RunSummary {
  readonly id: string;
  /** The title that it was given, or the name in its spec. */
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
  /** Rules that held, in the order in which they last changed; absent without any. */
  readonly alerts?: readonly RunAlert[] | undefined;
  /** Set if it was given a title. */
  readonly title?: string | undefined;
  /** Tags in alphabetical order; absent without any. */
  readonly tags?: readonly string[] | undefined;
  /** The sweep that it is a run of. */
  readonly sweep?: { readonly id: string; readonly name: string } | undefined;
  /** The beginning of its newest note, at first of those on the whole run. */
  readonly note?: string | undefined;
  /** Number of the last change of its title, tags and notes; undefined if it never had any. */
  readonly annotated?: number | undefined;
}

/** A run as its page shows it. */
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
