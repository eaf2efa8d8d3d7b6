/** A trainer thread beside the worker's own: it has its own trainer, and shares the arena. */
import { parentPort, workerData } from 'node:worker_threads';
import { Arena } from '../../memory/arena.ts';
import { createTrainer } from '../../training/create-trainer.ts';
import type { TrainerOptions } from '../../training/trainer.ts';
import { rankError } from './rank-error.ts';
import type { FromThread, ThreadVectors, ToThread } from './thread-messages.ts';
import { computeFrom } from './trainer-thread.ts';

const port = parentPort;
if (port === null) throw new Error('internal: trainers run in worker threads');

const post = (message: FromThread): void => {
  port.postMessage(message);
};
const fail = (error: unknown): void => {
  post({ type: 'failed', error: rankError(error) });
};

const trainer = createTrainer(workerData as TrainerOptions);
trainer.then(() => {
  post({ type: 'ready' });
}, fail);

let shared: { readonly arena: Arena; readonly vectors: ThreadVectors } | undefined;

async function compute(iteration: number): Promise<void> {
  if (shared === undefined) throw new Error('internal: no arena to compute in');
  const { arena, vectors } = shared;
  const { weights } = vectors;
  const gradient = arena.f32(vectors.gradient);
  const computed = await computeFrom(
    await trainer,
    arena,
    { weights, gradient },
    iteration,
  );
  post({ type: 'computed', gradient: computed });
}

port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'attach': {
      const { gradient, memory, weights } = message;
      shared = { arena: new Arena(memory), vectors: { gradient, weights } };
      return;
    }
    case 'compute':
      compute(message.iteration).catch(fail);
      return;
    default:
      message satisfies never;
  }
});
