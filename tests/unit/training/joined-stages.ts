/** The stages of a pipeline in one process, with queues for links: nothing is lost on the way. */
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import type { StageLinks } from '../../../src/agent/training/stage-links.ts';
import type { Trainer, TrainerOptions } from '../../../src/agent/training/trainer.ts';

/** Values on their way from one stage to another. */
class Queue {
  readonly #values: Float32Array[] = [];
  readonly #waiting: ((values: Float32Array) => void)[] = [];

  put(values: Float32Array): void {
    const copy = values.slice();
    const next = this.#waiting.shift();
    if (next === undefined) this.#values.push(copy);
    else next(copy);
  }

  take(): Promise<Float32Array> {
    const values = this.#values.shift();
    if (values !== undefined) return Promise.resolve(values);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export async function joinedStages(
  options: TrainerOptions,
  splitAfter: readonly string[],
  microBatches: number,
  open = createTrainer,
): Promise<readonly Trainer[]> {
  const queues = new Map<string, Queue>();
  const queue = (name: string): Queue => {
    const known = queues.get(name) ?? new Queue();
    queues.set(name, known);
    return known;
  };
  const linksOf = (stage: number): StageLinks => ({
    begin: () => undefined,
    send(passage, microBatch, values) {
      const to = passage === 'backward' ? stage - 1 : stage + 1;
      queue(`${passage} ${microBatch} to ${to}`).put(values);
      return Promise.resolve();
    },
    async receive(passage, microBatch) {
      const values = await queue(`${passage} ${microBatch} to ${stage}`).take();
      return { values, idle: 0 };
    },
    sendShared(passage, tensor, peer, values) {
      queue(`${passage} ${tensor} from ${stage} to ${peer}`).put(values);
      return Promise.resolve();
    },
    async receiveShared(passage, tensor, peer) {
      const name = `${passage} ${tensor} from ${peer} to ${stage}`;
      return { values: await queue(name).take(), idle: 0 };
    },
    settle: () => Promise.resolve({ dense: 0, payload: 0 }),
    measuring: () => Promise.resolve(() => Promise.resolve()),
  });
  return await Promise.all(
    Array.from({ length: splitAfter.length + 1 }, async (_, stage) => {
      const pipeline = { splitAfter, microBatches, stage };
      const trainer = await open({ ...options, pipeline });
      trainer.joinPipeline!(linksOf(stage));
      return trainer;
    }),
  );
}
