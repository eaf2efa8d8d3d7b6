/**
 * Connects a pipeline stage to its engine: matrices are in the arena, calls trigger
 * transfers.
 */
import type {
  MatrixShape,
  MeanThreshold,
  PassedBytes,
} from '../pipeline/stage-setting.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { PassageCall } from '../pipeline/boundary.ts';
import { meanThresholds } from '../pipeline/row-thresholds.ts';
import type { StageVectors } from '../pipeline/stage-exchange.ts';
import type { StageLinks } from '../training/stage-links.ts';
import type { EngineClient } from './engine/engine-client.ts';

export interface StageConnectionOptions {
  readonly engine: EngineClient;
  readonly arena: Arena;
  readonly vectors: StageVectors;
  /** Shape of the forward activations; undefined in the last stage. */
  readonly after: MatrixShape | undefined;
  /** Whether an iteration measures thresholds of activations. */
  readonly inspects: (iteration: number) => boolean;
}

export function connectStage(options: StageConnectionOptions): StageLinks {
  const { after, arena, engine, vectors } = options;
  let iteration = 0;
  let inspects = false;
  /** Rows of each micro-batch. */
  let thresholds: (readonly MeanThreshold[])[] = [];
  let sent: PassedBytes = { dense: 0, payload: 0 };
  const count = ({ dense, payload }: PassedBytes): void => {
    sent = { dense: sent.dense + dense, payload: sent.payload + payload };
  };
  const write = (to: Vector, values: Float32Array): void => {
    arena.f32(to).set(values);
  };
  const sideOf = (call: Pick<PassageCall, 'passage'>, isSent: boolean) => {
    const isForward = call.passage !== 'backward';
    return (isForward === isSent ? vectors.after : vectors.before)!;
  };
  return {
    begin(next) {
      iteration = next;
      inspects = options.inspects(next);
      thresholds = [];
      sent = { dense: 0, payload: 0 };
    },
    async send(passage, microBatch, values) {
      const call = { passage, microBatch, iteration };
      write(sideOf(call, true).outgoing, values);
      count(await engine.call('sendPassage', call));
      if (inspects && passage === 'forward') {
        thresholds.push(meanThresholds(values, after!));
      }
    },
    async receive(passage, microBatch) {
      const call = { passage, microBatch, iteration };
      const { idle } = await engine.call('receivePassage', call);
      return { values: arena.f32(sideOf(call, false).incoming), idle };
    },
    async sendShared(passage, tensor, peer, values) {
      write(vectors.shared[tensor]!, values);
      count(await engine.call('sendShared', { passage, tensor, peer }));
    },
    async receiveShared(passage, tensor, peer) {
      const { idle } = await engine.call('receiveShared', { passage, tensor, peer });
      return { values: arena.f32(vectors.shared[tensor]!), idle };
    },
    async settle() {
      await engine.call('settle', {});
      return thresholds.length === 0
        ? sent
        : { ...sent, thresholds: averaged(thresholds) };
    },
    async measuring() {
      await engine.call('measuring', { begins: true });
      return async () => {
        await engine.call('measuring', { begins: false });
      };
    },
  };
}

const averaged = (
  parts: readonly (readonly MeanThreshold[])[],
): readonly MeanThreshold[] =>
  parts[0]!.map(({ sparsity }, i) => ({
    sparsity,
    mean: parts.reduce((sum, part) => sum + part[i]!.mean, 0) / parts.length,
  }));
