/** Divides the time of a stage's passes into phases, ms. Nothing is counted twice. */
import type { PipelinePhase } from '../../shared/records/phases.ts';
import type { PassTimes } from './trainer.ts';

export class PassClock {
  #times = noTimes();

  begin(): void {
    this.#times = noTimes();
  }

  async measure<T>(phase: PipelinePhase, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.#times[phase] += performance.now() - start;
    }
  }

  /** Moves counted time from one phase to another, as far as it was counted. */
  move(from: PipelinePhase, to: PipelinePhase, time: number): void {
    const moved = Math.min(time, this.#times[from]);
    this.#times[from] -= moved;
    this.#times[to] += moved;
  }

  /**
   * Ends the pass and returns its times. A later measurement, such as an evaluation, does not
   * change them.
   */
  end(): PassTimes {
    const times = this.#times;
    this.#times = noTimes();
    return times;
  }
}

const noTimes = (): Record<PipelinePhase, number> => ({
  forward: 0,
  backward: 0,
  activations: 0,
  bubble: 0,
});
