/** Weights and gradient that a rank shares with PyTorch's process. */
import { shareMemory, type Place, type SharedMemory } from '../bridge/shared-memory.ts';
import type { Arena, Vector } from '../memory/arena.ts';

export interface SharedVectorsOptions {
  /** The arena and its gradient, if they can be shared where they are. */
  readonly arena?: { readonly arena: Arena; readonly gradient: Vector } | undefined;
  /** The weights there, if they are. */
  readonly inArena?: Vector | undefined;
  /** Elements of the weights that are in no table, and of the gradient. */
  readonly weights: number;
  readonly gradient: number;
}

export class SharedVectors {
  readonly #weights: SharedMemory;
  readonly #gradient: SharedMemory;
  /** Whether the process computes with the weights that the optimiser moves. */
  readonly hasWeightsInPlace: boolean;

  private constructor(weights: SharedMemory, gradient: SharedMemory, inPlace: boolean) {
    this.#weights = weights;
    this.#gradient = gradient;
    this.hasWeightsInPlace = inPlace;
  }

  /** @throws GradwireError `BRIDGE_UNAVAILABLE` */
  static async open(options: SharedVectorsOptions): Promise<SharedVectors> {
    const { arena: shared, gradient, inArena, weights } = options;
    const place = (vector: Vector | undefined): Float32Array | undefined =>
      vector && shared?.arena.f32(vector);
    const weightsThere = place(inArena);
    return new SharedVectors(
      await share(weights, weightsThere),
      await share(gradient, place(shared?.gradient)),
      weightsThere !== undefined,
    );
  }

  get weights(): Float32Array {
    return this.#weights.values;
  }

  get gradient(): Float32Array {
    return this.#gradient.values;
  }

  /** Whether a vector is the gradient where the process writes it. */
  isGradient({ buffer, byteOffset }: Float32Array): boolean {
    const { gradient } = this;
    return gradient.buffer === buffer && gradient.byteOffset === byteOffset;
  }

  get memories(): readonly SharedMemory[] {
    return [this.#weights, this.#gradient];
  }

  /** The memory as the process opens it. */
  get mapped() {
    return { weights: mappedOf(this.#weights), gradient: mappedOf(this.#gradient) };
  }
}

/** Shares new memory, or lets it take the place of a vector and keep its values. */
async function share(length: number, there?: Float32Array): Promise<SharedMemory> {
  const place: Place | undefined = there && {
    memory: there.buffer,
    offset: there.byteOffset,
  };
  const before = there?.slice();
  const memory = await shareMemory(length, place);
  if (before !== undefined) memory.values.set(before);
  return memory;
}

const mappedOf = ({ path, values }: SharedMemory) => {
  return { path, bytes: values.byteLength };
};
