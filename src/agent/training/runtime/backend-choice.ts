/**
 * Which backend a rank computes on, and why: what a spec asks for, against the GPU that was
 * found. WebGPU has no way to name the second of two equal GPUs, so all ranks of a machine
 * would take the same one; that they share it has to be asked for.
 */
import { inputError } from '../../../shared/errors.ts';

export type Backend = 'wasm' | 'webgpu';

export interface BackendQuestion {
  readonly wanted: Backend | 'auto';
  /** The GPU, or in words why there is none. */
  readonly found: { readonly name: string; readonly software: boolean } | string;
  /** Ranks of this machine, this one included; 1 where they may share its GPU. */
  readonly sharers: number;
  /** Why there is no WebGPU, as an error. */
  readonly unavailable: (why: string) => Error;
}

export interface BackendChoice {
  readonly backend: Backend;
  /** Why `auto` did not take the GPU; undefined where it did, or was not asked. */
  readonly why?: string | undefined;
}

/** @throws GradwireError `GPU_SHARED`; `unavailable` */
export function chooseBackend(question: BackendQuestion): BackendChoice {
  const { wanted, found, sharers } = question;
  if (wanted === 'wasm') return { backend: 'wasm' };
  if (typeof found === 'string') {
    if (wanted === 'webgpu') throw question.unavailable(found);
    return { backend: 'wasm', why: found };
  }
  if (found.software || sharers === 1) return { backend: 'webgpu' };
  const shared = `${sharers} ranks of one machine would share one GPU (${found.name})`;
  if (wanted === 'auto') {
    return { backend: 'wasm', why: `${shared}; world.shareGpu allows that` };
  }
  throw inputError('GPU_SHARED', shared, {
    place: 'backend: webgpu',
    next: 'Use one rank per machine, or let them share it: world.shareGpu: true.',
  });
}
