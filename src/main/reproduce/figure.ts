/**
 * A figure or table of a paper that `gradwire reproduce` repeats: what the paper claims,
 * which runs show it at laptop scale, and the rule by which their results are judged. The
 * rule is part of the definition, so it stands before the first result does.
 */
import type { RunRecord } from '../../shared/records.ts';
import type { Chart } from './chart/chart.ts';
import type { FullScale } from './full-scale.ts';
import type { Sweep } from './sweep.ts';

export interface Paper {
  /** As its authors call the method: `SparCML`. */
  readonly name: string;
  readonly title: string;
}

/** What the paper says, in our words, and the figures that its text has. */
export interface Claim {
  readonly text: string;
  /** Figures as the paper states them. Where its text has none, this says so. */
  readonly quoted: readonly Quoted[];
}

export interface Quoted {
  readonly text: string;
  /** Where in the paper: `Section 3`, `Table 2`. */
  readonly where: string;
}

/** Runs that differ in their seed alone. */
export interface Case {
  /** Unique within the figure. */
  readonly id: string;
  /** As the progress and the runs' names have it: `4 ranks, 1 %`. */
  readonly label: string;
  /** A spec without name and seed, as a user could write it. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** What is taken from one run's records. */
export interface Measurement {
  /** Finite; what was not observed is absent. */
  readonly values: Readonly<Record<string, number>>;
  /** How something went on with the iterations, where the chart shows it. */
  readonly curve?: readonly CurvePoint[];
}

export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/** One part of the rule, as it came out. */
export interface Finding {
  readonly text: string;
  readonly outcome: Outcome;
}

/** `unclear`: the spread is larger than the effect, or this scale cannot tell. */
export type Outcome = 'holds' | 'fails' | 'unclear';

export type Verdict = 'confirmed' | 'refuted' | 'undecided';

export interface Judgement {
  /** At least one. */
  readonly findings: readonly Finding[];
  /** Our counterpart of the paper's figures, in a sentence. */
  readonly ours: string;
}

/** Figures as text, first column the row's name. */
export interface ResultTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Figure {
  /** `sparcml-figure-1` */
  readonly id: string;
  readonly paper: Paper;
  /** `Figure 1` */
  readonly number: string;
  readonly title: string;
  readonly claim: Claim;
  /** In words, what `judge` does. */
  readonly rule: string;
  /** How these runs differ from the paper's. */
  readonly differences: readonly string[];
  readonly seeds: readonly number[];
  readonly cases: readonly Case[];
  /** With the paper's own sizes, where Gradwire has its models and data are to be had. */
  readonly full?: FullScale;
  /**
   * What `measure` looks at, where a long run has more records than memory holds; default: all.
   */
  keeps?(record: RunRecord): boolean;
  /** @throws GradwireError `MEASURE_MISSING` where the records lack what the figure is of */
  measure(records: readonly RunRecord[]): Measurement;
  judge(sweep: Sweep): Judgement;
  chart(sweep: Sweep): Chart;
  table(sweep: Sweep): ResultTable;
}

/** Refuted where any part fails, confirmed where all hold. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.length === 0) throw new Error('internal: a judgement without findings');
  if (findings.some(({ outcome }) => outcome === 'fails')) return 'refuted';
  return findings.every(({ outcome }) => outcome === 'holds')
    ? 'confirmed'
    : 'undecided';
}
