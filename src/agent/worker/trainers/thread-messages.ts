/** Between the worker's thread and a trainer thread beside it. */
import type { ErrorData } from '../../../shared/errors.ts';
import type { Vector } from '../../memory/arena.ts';
import type { ThreadGradient } from './trainer-thread.ts';

/** In the arena. */
export interface ThreadVectors {
  readonly weights: Vector;
  readonly gradient: Vector;
}

export type ToThread =
  /** Where it works; before anything is computed. */
  | ({ readonly type: 'attach'; readonly memory: WebAssembly.Memory } & ThreadVectors)
  | { readonly type: 'compute'; readonly iteration: number };

export type FromThread =
  /** Its data are loaded. */
  | { readonly type: 'ready' }
  | { readonly type: 'computed'; readonly gradient: ThreadGradient }
  | { readonly type: 'failed'; readonly error: ErrorData };
