/** Starts the backend that was chosen in jax-js, or the CPU if its GPU does not start. */
import type { Backend, BackendChoice } from './backend-choice.ts';

/** The part of jax-js that starts backends. */
interface Starter {
  /** Resolves to those that are ready, of all that were asked for. */
  init(backend: Backend): Promise<readonly string[]>;
  defaultDevice(backend: Backend): unknown;
}

export interface StartOptions {
  readonly wanted: Backend | 'auto';
  readonly chosen: BackendChoice;
  /** Lets other processes have the GPU. */
  readonly giveBack: () => void;
  /** Makes the error for a rank without WebGPU, from the reason. */
  readonly unavailable: (why: string) => Error;
}

/**
 * Returns what was started: what was chosen, or where `auto` chose a GPU that cannot be
 * opened, the CPU.
 * @throws `unavailable` if the GPU was asked for
 */
export async function startBackend(
  jax: Starter,
  { chosen, giveBack, unavailable, wanted }: StartOptions,
): Promise<BackendChoice> {
  let started = chosen;
  if (!(await jax.init(chosen.backend)).includes(chosen.backend)) {
    const why = 'the WebGPU adapter returned no device';
    giveBack();
    if (wanted !== 'auto' || chosen.backend === 'wasm') throw unavailable(why);
    started = { backend: 'wasm', why };
    await jax.init('wasm');
  }
  jax.defaultDevice(started.backend);
  return started;
}
