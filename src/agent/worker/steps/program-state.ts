/**
 * The state that a program keeps in its own checkpoint: the residual, and methods' state. The residual
 * comes back with the program's next gradient. Methods' state may have to be the same on all
 * ranks, so before the first exchange the ranks agree on whether each has got its own back, or all
 * the same.
 */
import { createHash } from 'node:crypto';
import type { Notice } from '../../../shared/records/notice.ts';
import type { Restore } from '../../bridge/messages.ts';
import type { StateKeeper } from '../../bridge/state-keeper.ts';
import type { EngineClient } from '../engine/engine-client.ts';

/** Bytes of states that a message may have; longer ones begin anew. */
const MOST_BYTES = 8 * 2 ** 20;

const DROPPED: Notice = {
  level: 'warning',
  code: 'METHOD_STATE_DROPPED',
  message:
    'the method begins without the state that was loaded: it is of another method or model, or the ' +
    'ranks have loaded different ones',
};

export interface ProgramStateOptions {
  readonly engine: EngineClient;
  readonly rank: number;
  /** The shared vector. */
  readonly gradient: Float32Array;
}

export class ProgramState implements StateKeeper {
  readonly #options: ProgramStateOptions;
  #restored: Restore | undefined;
  #isAgreed = false;
  /** Iterations that this run has made. */
  iteration = 0;

  constructor(options: ProgramStateOptions) {
    this.#options = options;
  }

  /** Whether the ranks still have to agree, before any of them exchanges. */
  get isOpen(): boolean {
    return !this.#isAgreed;
  }

  async save(): ReturnType<StateKeeper['save']> {
    const { engine, gradient } = this.#options;
    const { method, residual, states } = await engine.call('portable', {});
    if (residual !== undefined) gradient.set(residual);
    const bytes = states.reduce((sum, { length }) => sum + length, 0);
    return {
      type: 'saved',
      iteration: this.iteration,
      method,
      residual: residual !== undefined,
      states: bytes > MOST_BYTES ? [] : states.map((one) => base64Of(one)),
    };
  }

  restore(state: Restore): void {
    this.#restored = state;
  }

  /** Takes over what the ranks have restored, if they agree. Returns notices. */
  async agree(): Promise<readonly Notice[]> {
    if (this.#isAgreed) return [];
    this.#isAgreed = true;
    const { engine, rank } = this.#options;
    const state = this.#restored;
    const text = JSON.stringify([state?.method, state?.states]);
    const digest = createHash('sha256').update(text).digest();
    const own = [
      state?.own === true ? state.iteration : -1,
      ...[0, 4, 8, 12].map((at) => digest.readUInt32LE(at)),
    ];
    const { values } = await engine.call('summarize', {
      values: [state === undefined ? 0 : 1, ...own, ...own],
      operations: [
        'max',
        ...own.map(() => 'min' as const),
        ...own.map(() => 'max' as const),
      ],
    });
    const [any, ...bounds] = values;
    if (any === 0) return [];
    const same = own.map((_, i) => bounds[i] === bounds[own.length + i]);
    const [sameTime, ...sameWords] = same;
    const isOwn = sameTime === true && bounds[0]! >= 0;
    if (state !== undefined && (isOwn || sameWords.every(Boolean))) {
      const states = state.states.map((text) => Buffer.from(text, 'base64'));
      if ((await engine.call('adopt', { method: state.method, states })).fits)
        return [];
    }
    return rank === 0 ? [DROPPED] : [];
  }
}

const base64Of = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');
