/** The proof of a statement: the formula, the numbers in it, and the records they come from. */
import type { Estimate } from '../numbers/mean-interval.ts';
import { formatCount, formatDuration } from '../words/units.ts';

/** Ids of the charts that a statement can point at. */
export type Evidence = 'phases' | 'ranks' | 'bytes';

export interface ProofTerm {
  readonly name: string;
  readonly value: string;
}

export interface Proof {
  /** Formula by which the statement's number follows from the terms. */
  readonly formula: string;
  readonly terms: readonly ProofTerm[];
}

/** The range of a step that a remedy would leave. */
export interface Gain {
  /** Milliseconds of a step, with the remedy. */
  readonly step: Estimate;
  /** Step time now divided by that then. */
  readonly factor: number;
  /** Whether it is a bound: the step becomes no shorter than this. */
  readonly isBound: boolean;
}

export interface Statement {
  readonly text: string;
  /** The chart that shows it. */
  readonly evidence: Evidence;
  readonly proof: Proof;
  /** The remedy that it speaks of, and what it would gain. */
  readonly remedy?: { readonly id: Remedy; readonly gain: Gain } | undefined;
}

type Remedy = 'straggler' | 'cores' | 'data' | 'payload' | 'latency' | 'dense' | 'join';

export const term = (name: string, value: string): ProofTerm => ({ name, value });

/** `10.2 ms (9.80–10.6 ms)`; without an interval where there is none. */
export function estimateText({ mean, low, high }: Estimate): string {
  const isOpen = !Number.isFinite(low) || !Number.isFinite(high) || low === high;
  if (isOpen) return formatDuration(mean);
  return `${formatDuration(mean)} (${formatDuration(Math.max(0, low))}–${formatDuration(high)})`;
}

/** `mean of iterations 120–319 of 8 ranks, 1,600 records` */
export const basisText = (from: number, to: number, ranks: number, records: number) =>
  `mean of iterations ${formatCount(from)}–${formatCount(to - 1)} of ` +
  `${formatCount(ranks)} ${ranks === 1 ? 'rank' : 'ranks'}, ${formatCount(records)} records`;
