/**
 * A run's time by phase: the mean of every phase over ranks and iterations, for each exchange
 * plan that the run used. Constant memory per plan.
 */
import {
  COMMUNICATION_PHASES,
  COMPUTE_PHASES,
  PHASES,
  phasesOf,
  zeroPhases,
  type Phase,
  type StepKind,
} from '../../shared/records/phases.ts';
import {
  CHART_FIELDS as FIELDS,
  type IterationRecord,
} from '../../shared/records/iteration.ts';
import { bytes, milliseconds, percent } from './quantities.ts';
import { textTable } from './text-table.ts';

/** More columns than this do not fit a terminal: plans are merged by method. */
const MAX_COLUMNS = 5;

export class PhaseMeans {
  readonly label: string;
  #count = 0;
  #wall = 0;
  #overlapped = 0;
  readonly #phases = zeroPhases();
  readonly #bytes = { dense: 0, payload: 0, wireSent: 0 };
  readonly #activations = { dense: 0, payload: 0 };
  #threads = 1;

  constructor(label: string) {
    this.label = label;
  }

  add(record: IterationRecord): void {
    this.#count++;
    this.#wall += record.wall;
    this.#overlapped += record.overlapped;
    for (const phase of PHASES) this.#phases[phase] += record.phases[phase] ?? 0;
    this.#bytes.dense += record.bytes.dense;
    this.#bytes.payload += record.bytes.payload ?? NaN;
    this.#bytes.wireSent += record.bytes.wireSent ?? NaN;
    this.#activations.dense += record.activations?.dense ?? 0;
    this.#activations.payload += record.activations?.payload ?? 0;
    this.#threads = Math.max(this.#threads, (record.trainerThread ?? 0) + 1);
  }

  merge(other: PhaseMeans): void {
    this.#count += other.#count;
    this.#wall += other.#wall;
    this.#overlapped += other.#overlapped;
    for (const phase of PHASES) this.#phases[phase] += other.#phases[phase];
    for (const key of ['dense', 'payload', 'wireSent'] as const) {
      this.#bytes[key] += other.#bytes[key];
    }
    for (const key of ['dense', 'payload'] as const) {
      this.#activations[key] += other.#activations[key];
    }
    this.#threads = Math.max(this.#threads, other.#threads);
  }

  /** Trainer threads of a rank, that were seen: its iterations overlap where there are several. */
  get threads(): number {
    return this.#threads;
  }

  /** Whether ranks were stages that sent each other activations. */
  get isPipeline(): boolean {
    return this.#activations.dense > 0;
  }

  get stepKind(): StepKind {
    if (this.isPipeline) return 'stage';
    return this.#phases.forward > 0 ? 'passes' : 'whole';
  }

  /** Number of records that were added: one per rank and iteration. */
  get count(): number {
    return this.#count;
  }

  /** One line: an iteration's time, its phases, and its bytes compared with dense. */
  describe(): string {
    const sum = (phases: readonly Phase[]): number =>
      phases.reduce((total, phase) => total + this.#phases[phase], 0);
    return (
      `${milliseconds(this.#wall / this.#count)}/iteration` +
      `${this.#threads === 1 ? '' : `, ${this.#threads} at once in each rank`} ` +
      `(computing ${percent(sum(COMPUTE_PHASES) / this.#wall)}, ` +
      `communicating ${percent(sum(COMMUNICATION_PHASES) / this.#wall)}), ` +
      (Number.isNaN(this.#bytes.wireSent)
        ? `${this.#per(this.#bytes.dense)} of gradient`
        : `sent ${this.#per(this.#bytes.wireSent)} for ${this.#per(this.#bytes.dense)} of gradient`)
    );
  }

  /** A column of the table: heading, phases, and the rows below them. */
  column(phases: readonly Phase[], isPipeline: boolean): readonly string[] {
    const time = (sum: number): string =>
      `${milliseconds(sum / this.#count)} ${percent(sum / this.#wall).padStart(6)}`;
    return [
      this.label,
      ...phases.map((phase) => time(this.#phases[phase])),
      time(this.#wall),
      this.#overlapped === 0 ? '–' : milliseconds(this.#overlapped / this.#count),
      this.#per(this.#bytes.dense),
      this.#per(this.#bytes.payload),
      ...(isPipeline
        ? [this.#per(this.#activations.dense), this.#per(this.#activations.payload)]
        : []),
      this.#per(this.#bytes.wireSent),
      String(this.#count),
    ];
  }

  /** Bytes an iteration; a dash for those that nobody has counted. */
  #per(sum: number): string {
    return Number.isNaN(sum) ? '–' : bytes(sum / this.#count);
  }
}

export class PhaseBreakdown {
  readonly #epochs = new Map<number, PhaseMeans>();

  add(record: IterationRecord): void {
    let means = this.#epochs.get(record.epoch);
    if (means === undefined) {
      means = new PhaseMeans(`${record.method}/${record.collective}`);
      this.#epochs.set(record.epoch, means);
    }
    means.add(record);
  }

  /** The table, or undefined when no iteration was recorded. */
  table(): string | undefined {
    let plans = [...this.#epochs].sort(([a], [b]) => a - b).map(([, means]) => means);
    if (plans.length > MAX_COLUMNS) plans = mergeByLabel(plans);
    if (plans.length === 0) return undefined;
    const isPipeline = plans.some((means) => means.isPipeline);
    const kinds = plans.map(({ stepKind }) => stepKind);
    const phases = phasesOf(kinds.find((kind) => kind !== 'whole') ?? 'whole');
    const threads = Math.max(...plans.map((means) => means.threads));
    const names = [
      threads === 1 ? 'mean per iteration' : `mean per iteration, ${threads} at once`,
      ...phases.map((phase) => `  ${phase}`),
      'wall',
      FIELDS.overlapped.title,
      FIELDS.dense.title,
      FIELDS.payload.title,
      ...(isPipeline ? ['activations, as f32', 'activations, sent'] : []),
      FIELDS.wireSent.title,
      'records',
    ];
    const columns = plans.map((means) => means.column(phases, isPipeline));
    return textTable(
      names.map((name, row) => [name, ...columns.map((column) => column[row]!)]),
      ['left', ...columns.map(() => 'right' as const)],
    );
  }
}

function mergeByLabel(plans: readonly PhaseMeans[]): PhaseMeans[] {
  const merged = new Map<string, PhaseMeans>();
  for (const means of plans) {
    const known = merged.get(means.label) ?? new PhaseMeans(means.label);
    known.merge(means);
    merged.set(means.label, known);
  }
  return [...merged.values()];
}
