/** A stage's messages to the other stages of its pipeline. */

import type {
  Passage,
  PassedActivations,
  SharedPassage,
} from '../pipeline/stage-setting.ts';

export interface StageLinks {
  /** Begins this iteration. */
  begin(iteration: number): void;
  /** Sends to the next stage, or back to the one before. Resolves when `values` may be reused. */
  send(passage: Passage, microBatch: number, values: Float32Array): Promise<void>;
  /**
   * Receives from there. The values are valid until the next call and may have lost
   * precision in transit.
   */
  receive(passage: Passage, microBatch: number): Promise<Received>;
  /** @param peer the other stage; @param tensor its index among the shared ones */
  sendShared(
    passage: SharedPassage,
    tensor: number,
    peer: number,
    values: Float32Array,
  ): Promise<void>;
  receiveShared(
    passage: SharedPassage,
    tensor: number,
    peer: number,
  ): Promise<Received>;
  /** Resolves when everything sent has left, with the amount since `begin`. */
  settle(): Promise<PassedActivations>;
  /** Messages until `end` is called only measure the run and are not part of training. */
  measuring(): Promise<() => Promise<void>>;
}

interface Received {
  readonly values: Float32Array;
  /** The part of its time until another stage had something to send, ms. */
  readonly idle: number;
}
