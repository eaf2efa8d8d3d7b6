/**
 * Chooses the backend that a rank computes on, and says why: what a spec asks for, against the GPUs
 * that were found. Each rank of a machine gets its own; that ranks share one has to be asked for.
 */
import { inputError, type GradwireError } from '../../../shared/errors/errors.ts';

export type Backend = 'wasm' | 'webgpu';

/** The GPU that a rank would take. */
interface FoundGpu {
  readonly name: string;
  readonly software: boolean;
  /** GPUs that the ranks of this machine are dealt over. */
  readonly gpus: number;
  /** Reason that ranks cannot each have their own GPU, if that is so. */
  readonly whyOne: string | undefined;
}

interface TakenGpu {
  readonly name: string;
  readonly id: string;
  /** The process that has the GPU, in words. */
  readonly holder: string;
}

/** GPUs that are there, but all of them other processes'. */
interface TakenGpus {
  readonly taken: readonly TakenGpu[];
}

export interface BackendQuestion {
  readonly wanted: Backend | 'auto';
  /** The GPU, or in words why there is none. */
  readonly found: FoundGpu | TakenGpus | string;
  /** Ranks of this machine, this one included; 1 if they may share GPUs. */
  readonly sharers: number;
  /** Makes the error for a rank without WebGPU, from the reason. */
  readonly unavailable: (why: string) => Error;
}

export interface BackendChoice {
  readonly backend: Backend;
  /** Reason that `auto` did not take the GPU; undefined if it did, or was not requested. */
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
  const { message, next } = conflictOf(found, sharers) ?? {};
  if (message === undefined) return { backend: 'webgpu' };
  if (wanted === 'auto') {
    return {
      backend: 'wasm',
      why: `${message}; set world.shareGpu: true to let ranks share GPUs`,
    };
  }
  throw gpuShared(message, next!);
}

/**
 * Finds the conflict; undefined if the rank has its GPU to itself, or if it is software, which all
 * may use.
 */
function conflictOf(
  found: FoundGpu | TakenGpus,
  sharers: number,
): { readonly message: string; readonly next: string } | undefined {
  const share = 'set world.shareGpu: true to let ranks share GPUs.';
  if ('taken' in found) {
    const { length } = found.taken;
    const all = length === 1 ? 'the GPU' : `all ${length} GPUs`;
    const names = found.taken
      .map(({ name, id, holder }) => `${name}, ${id}: ${holder}`)
      .join('; ');
    return {
      message: `other processes are using ${all} of this machine (${names})`,
      next: `Wait until their runs have ended, or ${share}`,
    };
  }
  const { gpus, name, software, whyOne } = found;
  if (software || sharers <= gpus) return undefined;
  const count = gpus === 1 ? 'one GPU' : `${gpus} GPUs`;
  const because =
    whyOne === undefined ? '' : `: they cannot each have their own GPU (${whyOne})`;
  return {
    message: `${sharers} ranks of one machine would share ${count} (${name})${because}`,
    next:
      gpus === 1
        ? `Use one rank per machine, or ${share}`
        : `Use at most ${gpus} ranks on this machine, or ${share}`,
  };
}

const gpuShared = (message: string, next: string): GradwireError =>
  inputError('GPU_SHARED', message, { place: 'backend: webgpu', next });
