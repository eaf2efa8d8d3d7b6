/**
 * Tensors that several stages of a pipeline use. Each belongs to the first of them, the
 * only one that updates it: before a batch it sends the others the weights, and
 * afterwards it gets their gradients.
 */
import type { SharedPassage } from '../pipeline/stage-setting.ts';
import type { ModelParameters } from './model-parameters.ts';
import type { ModelStage } from './models/split-model.ts';
import type { PassClock } from './pass-clock.ts';
import { borrowedBy } from './stage-functions.ts';
import type { StageLinks } from './stage-links.ts';

export interface SharedTensorsOptions {
  readonly stage: ModelStage;
  /** Weights that the stage owns. */
  readonly weights: ModelParameters;
  readonly clock: PassClock;
  readonly links: () => StageLinks;
}

export class SharedTensors {
  readonly #parts: SharedTensorsOptions;

  constructor(parts: SharedTensorsOptions) {
    this.#parts = parts;
  }

  /**
   * Weights, from the stages that own them to the others.
   * @returns those of other stages, in the order of `borrowedBy`
   */
  async borrow(): Promise<readonly Float32Array[]> {
    const { stage, weights } = this.#parts;
    const { index, shared } = stage;
    const borrowed: Float32Array[] = [];
    for (const [place, { borrowers, owner, tensor }] of shared.entries()) {
      if (owner === index) {
        const values = await weights.readWhole(tensor.name);
        for (const peer of borrowers) await this.#send('weights', place, peer, values);
      } else if (borrowers.includes(index)) {
        borrowed.push((await this.#receive('weights', place, owner)).slice());
      }
    }
    return borrowed;
  }

  /**
   * Gradients, to the stages that own the tensors.
   * @param borrowed gradients of other stages' tensors
   * @param gradient its own gradient, to which those of the others are added
   */
  async giveBack(
    borrowed: readonly Float32Array[],
    gradient: Float32Array,
  ): Promise<void> {
    const { stage } = this.#parts;
    const { index, shared } = stage;
    const names = borrowedBy(stage);
    for (const [place, { borrowers, owner, tensor }] of shared.entries()) {
      if (owner === index) {
        const slice = this.#sliceOf(gradient, tensor.name);
        for (const peer of borrowers) {
          const values = await this.#receive('gradient', place, peer);
          for (let i = 0; i < slice.length; i++) slice[i] = slice[i]! + values[i]!;
        }
      } else if (borrowers.includes(index)) {
        const values = borrowed[names.indexOf(tensor.name)]!;
        await this.#send('gradient', place, owner, values);
      }
    }
  }

  #send(
    passage: SharedPassage,
    place: number,
    peer: number,
    values: Float32Array,
  ): Promise<void> {
    const { clock, links } = this.#parts;
    return clock.measure('activations', () =>
      links().sendShared(passage, place, peer, values),
    );
  }

  async #receive(
    passage: SharedPassage,
    place: number,
    peer: number,
  ): Promise<Float32Array> {
    const { clock, links } = this.#parts;
    const { idle, values } = await clock.measure('activations', () =>
      links().receiveShared(passage, place, peer),
    );
    clock.move('activations', 'bubble', idle);
    return values;
  }

  #sliceOf(flat: Float32Array, name: string): Float32Array {
    const { tensors } = this.#parts.weights;
    const { length, start } = tensors.find((tensor) => tensor.name === name)!;
    return flat.subarray(start, start + length);
  }
}
