/** Computation of steps by workload: each is measured once while a command or the app goes on. */
import type { ParsedSpec } from '../../shared/spec/experiment-spec.ts';
import type { ComputeTime } from './plan-step.ts';

export class ComputeTimes {
  readonly #measure: (spec: ParsedSpec) => Promise<number>;
  readonly #known = new Map<string, Promise<ComputeTime>>();

  /** @param measure returns the seconds that a step of the spec computes */
  constructor(measure: (spec: ParsedSpec) => Promise<number>) {
    this.#measure = measure;
  }

  of(spec: ParsedSpec): Promise<ComputeTime> {
    const { backend, optimizer, workload } = spec;
    const key = JSON.stringify([backend, optimizer, workload]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const measuring = this.#measure(spec).then((seconds) => ({
      seconds,
      origin: 'measured with one rank on this computer',
    }));
    this.#known.set(key, measuring);
    measuring.catch(() => this.#known.delete(key));
    return measuring;
  }
}
