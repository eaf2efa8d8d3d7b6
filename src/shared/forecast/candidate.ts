/** A predicted training step: one plan, carried by one collective, in one world. */
import type { CostTerms, StepBound } from '../cost-model/cost-terms.ts';

/** A step's parts by the cost model; the parts add up to the step. */
export interface StepForecast {
  readonly ranks: number;
  readonly method: string;
  /** The largest bucket's collective; `allgather` if nothing is summed. */
  readonly collective: string;
  /** Number of servers, if its collective has any. */
  readonly servers?: number | undefined;
  /** Seconds to compute; the next four are seconds as well. */
  readonly compute: number;
  readonly compress: number;
  readonly exchange: number;
  readonly decompress: number;
  readonly step: number;
  /** The exchange by constants, in seconds. */
  readonly terms: CostTerms;
  /** Bytes of the payloads of one rank. */
  readonly payloadBytes: number;
  /** Bytes that the busiest rank sends, framing excluded. */
  readonly wireBytes: number;
  readonly bound: StepBound;
}

export interface Candidate extends StepForecast {
  /** Number of the plan: 0 is the spec's own, then those that were given, in their order. */
  readonly plan: number;
  /** The method and what matters of its parameters, in a few words. */
  readonly label: string;
  /** Whether the plan names this collective, or `auto` would choose it. */
  readonly chosen: boolean;
  /** Whether it is the spec's own plan, or a form that `auto` may choose. */
  readonly own: boolean;
  /** Whether gradients are sent uncompressed: the baseline for the others. */
  readonly uncompressed: boolean;
  /**
   * Step time of the best uncompressed exchange divided by this one's; compression pays
   * above 1. Without an uncompressed plan among them: against the spec's own.
   */
  readonly speedup: number;
}

/** The first of each method and of the spec's plan: candidates come fastest first. */
export function bestOfEach(candidates: readonly Candidate[]): readonly Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ method, own }) => {
    const key = own ? 'own' : method;
    return !seen.has(key) && seen.add(key);
  });
}
