/**
 * The weights of a rank as PyTorch's process has them: in memory that both share, renewed when they have
 * changed. Where the engine's vectors have pages of their own, the process works in them, and nothing is
 * copied.
 */
import type { ParameterArena } from '../training/arena-parameters.ts';
import type { BatchValues } from '../training/batches/batch.ts';
import type { ModelParameters } from '../training/model-parameters.ts';
import type { Desk } from './desk.ts';
import type { OpenRequest } from './messages.ts';
import { SharedVectors } from './shared-vectors.ts';
import type { TorchProcess } from './torch-process.ts';

export interface ProcessWeightsParts {
  readonly process: TorchProcess;
  readonly desk: Desk;
  readonly weights: ModelParameters;
  /** The model that the process is to compute. */
  readonly request: Omit<OpenRequest, 'type' | 'memory' | keyof Desk['places']>;
}

export class ProcessWeights {
  readonly #parts: ProcessWeightsParts;
  #vectors: Promise<SharedVectors> | undefined;
  /** Whether the process has not seen the weights since they changed. */
  #isFresh = true;

  constructor(parts: ProcessWeightsParts) {
    this.#parts = parts;
  }

  /** The memory that both share, opened at the first call. */
  share(): Promise<SharedVectors> {
    this.#vectors ??= this.#open();
    return this.#vectors;
  }

  /** Opens it in the arena, if that can be shared. */
  async joinArena(memory: ParameterArena): Promise<void> {
    this.#vectors = this.#open(memory);
    await this.#vectors;
  }

  moved(): void {
    this.#isFresh = true;
  }

  /** Gives the process the weights, if they have changed. Resolves to whether they have. */
  async renew(): Promise<boolean> {
    const vectors = await this.share();
    const isFresh = this.#isFresh;
    if (isFresh && !vectors.hasWeightsInPlace) {
      await this.#parts.weights.readWholes(vectors.weights);
    }
    this.#isFresh = false;
    return isFresh;
  }

  /** Gives it the rows of tables that samples use. @param rows their places, by table */
  renewRows(rows: readonly Float32Array[], samples: BatchValues): void {
    const used = this.#parts.weights.tables.gather(samples);
    for (const [which, values] of used.entries()) rows[which]!.set(values);
  }

  async #open(arena?: ParameterArena): Promise<SharedVectors> {
    const { desk, process, request, weights } = this.#parts;
    const vectors = await SharedVectors.open({
      arena: arena?.ownPages === true ? arena : undefined,
      inArena: weights.inArena,
      // A stage may have nothing but a table, and memory is not empty.
      weights: Math.max(
        1,
        weights.whole.reduce((sum, { length }) => sum + length, 0),
      ),
      gradient: weights.length,
    });
    await process.open({
      type: 'open',
      ...request,
      memory: {
        desk: { path: desk.memory.path, bytes: desk.bytes },
        ...vectors.mapped,
      },
      ...desk.places,
    });
    for (const memory of [desk.memory, ...vectors.memories]) memory.closePath();
    return vectors;
  }
}
