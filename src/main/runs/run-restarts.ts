/**
 * Restarts interrupted runs over several machines: when all machines can be reached and their
 * ranks are gone, all resume from the newest checkpoint that all have. Until then it waits,
 * and retries whenever a connection is made or a node reports an interruption. Runs on one
 * node do not need this: their supervisor restarts them.
 */
import { GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';

/** The iteration from which all ranks of a run resume. */
export type ResumePoint = {
  readonly iteration: number;
  readonly schedule: NonNullable<RunStatus['schedule']>;
};

const RETRY_MS = 3000;

export class RunRestarts {
  readonly #parts: CoordinatorParts;
  readonly #underWay = new Set<string>();
  #closed = false;
  readonly #retries = new Map<string, NodeJS.Timeout>();

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  /** A node reports an interruption: perhaps all nodes are interrupted now. */
  consider(run: string, spec: Pick<ExperimentSpec, 'world'>): void {
    if (spec.world.nodes.length === 1 || this.#underWay.has(run)) return;
    if (this.#closed) return;
    this.#underWay.add(run);
    clearTimeout(this.#retries.get(run));
    this.#retries.delete(run);
    this.#restart(run)
      .catch((error: unknown) => {
        this.#failed(run, spec, error);
      })
      .finally(() => {
        this.#underWay.delete(run);
      });
  }

  close(): void {
    this.#closed = true;
    for (const retry of this.#retries.values()) clearTimeout(retry);
  }

  async #restart(run: string): Promise<void> {
    const states = await Promise.all(
      this.#parts.linksOf(run).map(async ({ connection }) => {
        const reply = await connection?.request('runs', {});
        return reply?.runs.find((other) => other.run === run);
      }),
    );
    const point = resumePoint(states);
    if (point !== undefined) await this.#parts.launches.start(run, { resume: point });
  }

  #failed(run: string, spec: Pick<ExperimentSpec, 'world'>, error: unknown): void {
    if (this.#closed) return;
    // Another app does it or was quicker, or a connection was lost again.
    if (!(error instanceof GradwireError)) this.#parts.news.trouble(error);
    // Apps that tried at the same time must not do so again.
    const pause = RETRY_MS * (1 + Math.random());
    const retry = setTimeout(() => {
      this.consider(run, spec);
    }, pause);
    this.#retries.set(run, retry);
  }
}

/**
 * @param states the run's state on each of its nodes, the leading one first
 * @returns undefined unless all of them are interrupted
 */
function resumePoint(
  states: readonly (RunStatus | undefined)[],
): ResumePoint | undefined {
  if (!states.every((state) => state?.phase === 'interrupted')) return undefined;
  const [lead, ...others] = states.map((state) => state!.resumable ?? [0]);
  const common = lead!.filter((iteration) =>
    others.every((resumable) => resumable.includes(iteration)),
  );
  return { iteration: Math.max(0, ...common), schedule: states[0]!.schedule ?? [] };
}
