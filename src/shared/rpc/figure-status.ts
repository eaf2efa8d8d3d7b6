/** Figures of papers as a page shows them: what they claim, what they cost, and what came out here. */
import type { ErrorData } from '../errors/errors.ts';

export interface FigureStatus {
  readonly id: string;
  /** `SparCML`, and its `Figure 1`. */
  readonly paper: string;
  readonly number: string;
  readonly title: string;
  readonly claim: string;
  /** The rule by which the verdict is reached, in words. */
  readonly rule: string;
  readonly runs: number;
  /** Most ranks of a run, and iterations of all runs together. */
  readonly ranks: number;
  readonly iterations: number;
  /** The command that reproduces it with the result in this home. */
  readonly command: string;
  /** The newest result in this home. */
  readonly result?: FigureOutcome | undefined;
  /** Runs of an attempt that was stopped or failed, which the next one can take up. */
  readonly kept: number;
  /** Runs that have ended, while it is being reproduced. */
  readonly running?: number | undefined;
  /** The reason why the last attempt here failed, or its result cannot be read. */
  readonly error?: ErrorData | undefined;
}

/** Whether a figure makes all its runs, or only those that the last attempt did not. */
export type FigureBegin = 'anew' | 'resume';

export interface FigureOutcome {
  readonly verdict: 'checked' | 'confirmed' | 'refuted' | 'undecided';
  /** The verdict, and this machine's counterpart of the paper's numbers, in sentences. */
  readonly text: string;
  readonly ours: string;
  readonly measuredAt: number;
  readonly seconds: number;
}

/** The result of a figure to look at and to keep. */
export interface FigurePage {
  /** A file with the chart, which opens without a network. */
  readonly html: string;
  /** The chart as SVG files, for a light and a dark page. */
  readonly pictures: { readonly light: string; readonly dark: string };
  /** A sentence that describes the chart. */
  readonly caption: string;
  /** Ids of its runs that the history still has. */
  readonly runs: readonly string[];
  /** Numbers as text; the first column is the row's name. */
  readonly table: {
    readonly columns: readonly string[];
    readonly rows: readonly (readonly string[])[];
  };
  readonly parts: readonly {
    readonly outcome: 'fails' | 'holds' | 'unclear';
    readonly text: string;
  }[];
}
