/** What a stage says to the other stages of its pipeline. */

import type {
  Passage,
  PassedActivations,
  SharedPassage,
} from '../../shared/stage-setting.ts';

export interface StageLinks {
  /** What follows is of this iteration. */
  begin(iteration: number): void;
  /** To the next stage, or back to the one before. Resolves when `values` may be reused. */
  send(passage: Passage, microBatch: number, values: Float32Array): Promise<void>;
  /**
   * From there. The values are valid until the next call; what was lost on the way is lost
   * in them.
   */
  receive(passage: Passage, microBatch: number): Promise<Received>;
  /** @param peer the other stage; @param tensor its place among the shared ones */
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
  /** All that was sent has left: this much since `begin`. */
  settle(): Promise<PassedActivations>;
  /** What is sent until `end` is called measures the run, and is not a part of training. */
  measuring(): Promise<() => Promise<void>>;
}

export interface Received {
  readonly values: Float32Array;
  /** Of the time that it took, until another stage had something to give, ms. */
  readonly idle: number;
}
