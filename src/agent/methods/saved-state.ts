/**
 * A method's state as bytes: a tag of the method, then the words of its parts, in the
 * order in which they are given. Little-endian, like the arena.
 */
import { failure } from '../../shared/errors/errors.ts';
import { wait } from '../work/steps.ts';
import type { Work } from '../work/work.ts';
import type { KeptState } from './method.ts';

type Words = Float32Array | Uint32Array;

const TAG_BYTES = 4;

export function packState(method: string, ...parts: readonly Words[]): Uint8Array {
  const state = new Uint8Array(TAG_BYTES + bytesOf(parts));
  new DataView(state.buffer).setUint32(0, tagOf(method), true);
  let at = TAG_BYTES;
  for (const part of parts) {
    state.set(asBytes(part), at);
    at += part.byteLength;
  }
  return state;
}

/**
 * Fills the parts from the output of `packState` for parts of the same sizes.
 * @throws GradwireError `METHOD_STATE_INVALID`, before anything is written
 */
export function unpackState(
  method: string,
  state: Uint8Array,
  ...parts: readonly Words[]
): void {
  const expected = TAG_BYTES + bytesOf(parts);
  const fits = state.length === expected && tagIn(state) === tagOf(method);
  if (!fits) {
    throw failure(
      'METHOD_STATE_INVALID',
      `${state.length} bytes are not a saved state of ${method}, which takes ${expected} bytes here`,
      {
        next: 'The saved state belongs to another method or model: start the run again.',
      },
    );
  }
  let at = TAG_BYTES;
  for (const part of parts) {
    asBytes(part).set(state.subarray(at, at + part.byteLength));
    at += part.byteLength;
  }
}

/** State stored in these arrays. */
export function stateIn(method: string, ...parts: readonly Words[]): KeptState {
  return {
    *save() {
      return yield* wait(packState(method, ...parts));
    },
    restore: (state) => {
      unpackState(method, state, ...parts);
    },
  };
}

/** State that is a vector of `length` elements, at any site. */
export function stateOf<V>(
  method: string,
  work: Work<V>,
  vector: V,
  length: number,
): KeptState {
  return {
    *save() {
      return packState(method, yield* wait(work.values(vector)));
    },
    restore: (state) => {
      const values = new Float32Array(length);
      unpackState(method, state, values);
      work.write(vector, values);
    },
  };
}

function tagIn(state: Uint8Array): number {
  return new DataView(state.buffer, state.byteOffset).getUint32(0, true);
}

/** FNV-1a. */
function tagOf(method: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < method.length; i++) {
    hash = Math.imul(hash ^ method.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}

function bytesOf(parts: readonly Words[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

function asBytes({ buffer, byteOffset, byteLength }: Words): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
