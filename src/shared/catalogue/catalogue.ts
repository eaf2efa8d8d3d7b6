/**
 * The catalogue of an agent's abilities: its methods, collectives, models, data sets and
 * backends. The agent makes it from its registries and sends it in its hello, so that the app
 * and the CLI offer exactly what the agent has, whatever its version.
 */
import type { JsonObject, JsonValue } from '../checks/json.ts';

export type PayloadKind = 'dense' | 'sparse' | 'quantized' | 'scalars';

/** A parameter as a form shows it. Derived from the method's zod schema. */
export interface ParameterEntry {
  readonly key: string;
  readonly type: 'number' | 'integer' | 'boolean' | 'choice' | 'text';
  readonly title: string;
  readonly description: string;
  readonly default?: JsonValue | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly choices?: readonly string[] | undefined;
}

/** A warm-up or ramp: the names of the parameters for its length and its start. */
interface ScheduleEntry {
  readonly iterations: string;
  readonly start?: string | undefined;
}

export interface MethodEntry {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly source: string;
  /** Networks, models and runs for which it pays. Absent in earlier versions. */
  readonly suits?: string | undefined;
  readonly payload: PayloadKind;
  readonly reducible: boolean;
  /** Whether gradients are sent as they are. Absent in earlier versions, and where they are not. */
  readonly uncompressed?: boolean | undefined;
  /** Parameters with which this method is suggested for a run without compression, if it is. */
  readonly invitation?: JsonObject | undefined;
  /** Absent in earlier versions, and where there are none. */
  readonly schedules?: readonly ScheduleEntry[] | undefined;
  /**
   * The parameter below which tensors travel dense in buckets of their own. Absent in earlier
   * versions, and where none does.
   */
  readonly apartBelow?: string | undefined;
  /** Whether error feedback keeps a residual from iteration to iteration, or may. */
  readonly residual: boolean;
  /** The parameter that asks for it. Absent in earlier versions, and where none does. */
  readonly residualIf?: string | undefined;
  /**
   * The things that the residual is a sum of: a switch keeps it if they are the same. In
   * which units it is kept, gradients' or updates', is the plan's to say. Absent in earlier
   * versions.
   */
  readonly residualOf?: string | undefined;
  /** Whether all ranks keep bit-identical weights under this method. */
  readonly replicas: 'identical' | 'drift';
  /** Ids of the collectives that take this method's payload. */
  readonly collectives: readonly string[];
  readonly parameters: readonly ParameterEntry[];
}

export interface CollectiveEntry {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly source: string;
  /** Cost in the α–β–γ model, and where it is the fastest. Absent in earlier versions. */
  readonly formula?: string | undefined;
  readonly suits?: string | undefined;
  readonly takes: readonly PayloadKind[];
  /** Whether a plan may say how many ranks are servers (`servers`). */
  readonly hasServers?: boolean | undefined;
}

export interface ModelEntry {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Omitted where the data decide. */
  readonly parameterCount?: number | undefined;
}

export interface DatasetEntry {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Whether it is read from a data directory (`workload.data`). */
  readonly needsData: boolean;
  /** Whether samples are sparse: they have features, whose number a spec may set. */
  readonly hasFeatures?: boolean | undefined;
  /** Whether a spec may say which columns it has (`workload.columns`). */
  readonly takesColumns?: boolean | undefined;
  /** Whether a spec may say how many samples it has (`workload.samples`). */
  readonly takesSamples?: boolean | undefined;
}

export interface OptimizerEntry {
  readonly id: string;
  readonly title: string;
  /** Rule of its step, with g the average gradient, w a weight and η the learning rate. */
  readonly summary: string;
  readonly source: string;
  /** Keys beside `optimizer.kind` that it reads, other than the rate and the momentum. */
  readonly options: readonly string[];
  /** Whether a compression method's momentum can take the place of its own. */
  readonly leavesMomentum: boolean;
  /** Whether it can train models with tables, of which a step updates the rows in use. */
  readonly trainsTables: boolean;
}

export interface Catalogue {
  readonly methods: readonly MethodEntry[];
  readonly collectives: readonly CollectiveEntry[];
  readonly models: readonly ModelEntry[];
  readonly datasets: readonly DatasetEntry[];
  readonly optimizers: readonly string[];
  /** Descriptions of these optimisers. Absent in earlier versions. */
  readonly describedOptimizers?: readonly OptimizerEntry[] | undefined;
  readonly backends: readonly string[];
}
