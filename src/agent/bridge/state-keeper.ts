import type { Restore, ToProgram } from './messages.ts';

/** Serves a program between two gradients. */
export interface StateKeeper {
  /** Puts the residual into `values`. */
  save(): Promise<Extract<ToProgram, { type: 'saved' }>>;
  restore(state: Restore): void;
}
