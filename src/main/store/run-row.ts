/** A run's row in the database, and its summary. */
import { z } from 'zod';
import {
  describeEmulated,
  emulatedNetwork,
} from '../../shared/machines/emulated-network.ts';
import type { ErrorData } from '../../shared/errors/errors.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { metricKindSchema } from '../../shared/records/metric.ts';
import { runAlertsSchema } from '../../shared/records/run-alert.ts';
import { errorDataSchema } from '../../shared/records/fields.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { RunState } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { invalidColumn, storedJson, storedSpec } from './stored-json.ts';

export interface RunRow {
  readonly number: number;
  readonly id: string;
  readonly name: string;
  /** ExperimentSpec as JSON. */
  readonly spec: string;
  /** The switches requested at launch, SwitchRequest[] as JSON. */
  readonly switches: string;
  /** The process that launched it, while the run is starting. */
  readonly launcher: string | null;
  readonly state: RunState;
  readonly created_at: number;
  readonly ended_at: number | null;
  /** The reason why the run failed or, before its end, why it will: ErrorData as JSON. */
  readonly error: string | null;
  readonly deleted: number;
  readonly last_sequence: number;
  readonly iterations: number;
  readonly iterations_planned: number;
  readonly ranks: number;
  readonly model: string;
  readonly dataset: string;
  /** string[] as JSON. */
  readonly methods: string;
  readonly loss: number | null;
  readonly metric: number | null;
  /** A `MetricKind` as JSON; null: accuracy. */
  readonly metric_kind: string | null;
  /** The record of what the ranks of a run that has not ended wait for or do now, as JSON. */
  readonly queue: string | null;
  /** Bytes of its records; null: not counted yet. */
  readonly bytes: number | null;
  /** When records of it last arrived. */
  readonly stored_at: number | null;
  /** Shown in place of the spec's name. */
  readonly title: string | null;
  /** Number of the last change of its title, tags and notes; null: it never had any. */
  readonly annotated: number | null;
  /** string[] as JSON. */
  readonly tags: string | null;
  /** The beginning of its newest note. */
  readonly note: string | null;
  /** The sweep that it is a run of: its id and name, as JSON. */
  readonly of_sweep: string | null;
  /** RunAlert[] as JSON; null: none. */
  readonly alerts: string | null;
  /** Nodes whose journals are missing of an ended run, string[] as JSON. */
  readonly missing: string | null;
}

/** The stored part of the journal of one of the run's nodes. */
export interface JournalRow {
  readonly node: string;
  readonly last_sequence: number;
  /** The journal's last record as JSON, once it has arrived. */
  readonly ending: string | null;
  /** Iterations done: the number of the newest recorded one plus 1. */
  readonly iterations: number;
  /** Number of omitted records that no record of the run describes yet. */
  readonly left_out: number;
  /** The iteration from which they were omitted. */
  readonly left_out_from: number;
  /**
   * The least time between a record of the journal, by its machine's clock, and its arrival here,
   * ms: how far this computer's clock is ahead. Null: unknown.
   */
  readonly clock_ahead: number | null;
}

/** A journal whose run has ended without it, because its machine was out of reach. */
export interface MissingJournal {
  readonly run: string;
  readonly node: string;
}

export function summaryOf(row: RunRow): RunSummary {
  const { id } = row;
  const spec = storedSpec(row);
  const error = row.error === null ? undefined : storedError(row.error, id);
  return {
    id,
    name: row.title ?? row.name,
    state: stateOf(row, error),
    createdAt: row.created_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    iterations: row.iterations,
    iterationsPlanned: row.iterations_planned,
    ranks: row.ranks,
    nodes: nodesOf(spec),
    model: row.model,
    dataset: row.dataset,
    ...emulatedOf(spec, id),
    methods: storedJson(row.methods, namesSchema, id, 'methods'),
    ...(row.loss === null ? {} : { loss: row.loss }),
    ...(row.metric === null ? {} : { metric: row.metric }),
    ...(row.metric_kind === null
      ? {}
      : {
          metricKind: storedJson(row.metric_kind, metricKindSchema, id, 'metric_kind'),
        }),
    ...(error === undefined || row.state !== 'failed' ? {} : { error }),
    ...queueOf(row),
    ...missingOf(row),
    ...(row.bytes === null ? {} : { bytes: row.bytes }),
    ...annotationsOf(row),
    ...sweepOf(row),
    ...(row.alerts === null
      ? {}
      : { alerts: storedJson(row.alerts, runAlertsSchema, id, 'alerts') }),
    deleted: row.deleted !== 0,
  };
}

const namesSchema = z.array(z.string());
/** Later versions may say more of an error. */
const errorSchema = errorDataSchema.loose();
const recordSchema = z.looseObject({ type: z.string() });

const storedError = (text: string, run: string): ErrorData =>
  storedJson(text, errorSchema, run, 'error');

/** A run that was stopped before it could record so has failed in the database. */
function stateOf({ state }: RunRow, error: ErrorData | undefined): RunSummary['state'] {
  return state === 'failed' && error?.code === 'RUN_STOPPED' ? 'stopped' : state;
}

function emulatedOf(
  { network }: ExperimentSpec,
  run: string,
): Pick<RunSummary, 'emulated'> {
  if (network === undefined) return {};
  try {
    return { emulated: describeEmulated(emulatedNetwork(network)) };
  } catch {
    throw invalidColumn(run, 'spec', 'its network is none');
  }
}

function missingOf({ id, missing }: RunRow): Pick<RunSummary, 'missing'> {
  const nodes = missing === null ? [] : storedJson(missing, namesSchema, id, 'missing');
  return nodes.length === 0 ? {} : { missing: nodes };
}

const sweepSchema = z.looseObject({ id: z.string(), name: z.string() });

function sweepOf({ id, of_sweep }: RunRow): Pick<RunSummary, 'sweep'> {
  if (of_sweep === null) return {};
  return { sweep: storedJson(of_sweep, sweepSchema, id, 'sweep') };
}

function annotationsOf({
  annotated,
  id,
  note,
  tags,
  title,
}: RunRow): Pick<RunSummary, 'annotated' | 'note' | 'tags' | 'title'> {
  if (annotated === null) return {};
  const given = tags === null ? [] : storedJson(tags, namesSchema, id, 'tags');
  return {
    annotated,
    ...(title === null ? {} : { title }),
    ...(given.length === 0 ? {} : { tags: given }),
    ...(note === null ? {} : { note }),
  };
}

function queueOf({ id, queue }: RunRow): Pick<RunSummary, 'queue'> {
  if (queue === null) return {};
  const record = storedJson(queue, recordSchema, id, 'queue') as unknown as RunRecord;
  return record.type === 'queued' ? { queue: record } : {};
}
