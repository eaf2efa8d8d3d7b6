/** Messages between the worker's thread and another trainer thread. */
import type { ErrorData } from '../../../shared/errors/errors.ts';
import type { Vector } from '../../memory/arena.ts';
import type { ThreadGradient } from './trainer-thread.ts';

/** Vectors of a trainer thread, in the arena. */
export interface ThreadVectors {
  readonly weights: Vector;
  readonly gradient: Vector;
}

export type ToThread =
  /** Gives the thread its memory; sent before it computes anything. */
  | ({ readonly type: 'attach'; readonly memory: WebAssembly.Memory } & ThreadVectors)
  | { readonly type: 'compute'; readonly iteration: number };

export type FromThread =
  /** Says that the thread's data are loaded. */
  | { readonly type: 'ready' }
  | { readonly type: 'computed'; readonly gradient: ThreadGradient }
  | { readonly type: 'failed'; readonly error: ErrorData };
