/**
 * A figure or table of a paper that `gradwire reproduce` repeats: what the paper claims,
 * which runs show it at laptop scale, and the rule by which their results are judged. The
 * rule is part of the definition, so it is fixed before the first result.
 */
import type { RunRecord } from '../shared/records/record-kinds.ts';
import type { Chart } from './chart/chart.ts';
import type { FullScale } from './full-scale.ts';
import type { Part } from './part.ts';
import type { Sweep } from './sweep.ts';

export interface Paper {
  /** The authors' name for their method: `SparCML`. */
  readonly name: string;
  readonly title: string;
}

/** The paper's claim, in our words, with the numbers that its text gives. */
interface Claim {
  readonly text: string;
  /** Numbers as the paper states them, or a note that its text has none. */
  readonly quoted: readonly Quoted[];
}

interface Quoted {
  readonly text: string;
  /** The place in the paper: `Section 3`, `Table 2`. */
  readonly where: string;
}

/** A setting of the runs, and why it is as it is. */
export interface Setting {
  /** `Iterations: 2,000` */
  readonly text: string;
  /** The sentence of the paper, with its place, or the reason for another value. */
  readonly because: string;
}

/** Runs that differ only in their seed. */
export interface Case {
  /** Unique within the figure. */
  readonly id: string;
  /** The case's name in the progress and in the runs' names: `4 ranks, 1 %`. */
  readonly label: string;
  /** A spec without name and seed, as a user could write it. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Values taken from one run's records. */
export interface Measurement {
  /** Finite values; a value that was not observed is absent. */
  readonly values: Readonly<Record<string, number>>;
  /** A value over the iterations, for charts that show one. */
  readonly curve?: readonly CurvePoint[] | undefined;
  /** Further curves by name, for charts of several. */
  readonly curves?: Readonly<Record<string, readonly CurvePoint[]>> | undefined;
}

export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

interface Judgement {
  /** The parts of the rule with what was measured, at least one. */
  readonly parts: readonly Part[];
  /** Our counterpart of the paper's numbers, in a sentence. */
  readonly ours: string;
}

/** Numbers as text; the first column is the row's name. */
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
  /** The rule that `judge` follows, in words. */
  readonly rule: string;
  /** The settings of these runs, each with the place in the paper or the reason. */
  readonly settings: readonly Setting[];
  /** Differences between these runs and the paper's. */
  readonly differences: readonly string[];
  /**
   * Verdicts at laptop scale that do not count any more, oldest first, a line for each with the reason. They
   * are no part of a result, so a line that is added voids none.
   */
  readonly history?: readonly string[];
  /** Times decide a part of the rule. */
  readonly timed?: true;
  readonly seeds: readonly number[];
  readonly cases: readonly Case[];
  /** The paper's own sizes, if Gradwire has its models and its data are available. */
  readonly full?: FullScale;
  /**
   * The records that `measure` reads, for long runs with more records than fit in memory;
   * default: all.
   */
  keeps?(record: RunRecord): boolean;
  /**
   * @throws GradwireError `MEASURE_MISSING` if the records lack a value that the figure
   * needs
   */
  readonly measure: (records: readonly RunRecord[]) => Measurement;
  /** Raised when `measure` takes another quantity by the same name: earlier results do not count then. */
  readonly measureVersion?: number;
  /**
   * Values that a run counts with if it diverged: those of a network that guesses. Default: such a run ends
   * the figure.
   */
  readonly guess?: (caseId: string) => Measurement['values'];
  judge(sweep: Sweep): Judgement;
  chart(sweep: Sweep): Chart;
  table(sweep: Sweep): ResultTable;
}
