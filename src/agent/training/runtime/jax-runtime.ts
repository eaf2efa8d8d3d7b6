/**
 * jax-js in Node: chooses the backend, provides what the library expects from a browser,
 * and loads it once per process.
 *
 * Verified with @jax-js/jax 0.1.25 and webgpu 0.6: the library reads
 * `navigator.hardwareConcurrency`, `navigator.userAgent` and `navigator.gpu`, the first
 * two while it is imported, hence the dynamic import. Its wasm backend spreads kernels
 * over web workers, which Node does not have, so in Node it computes only on the calling
 * thread; the given thread count is a limit for runtimes that do have them.
 */
import { existsSync, readdirSync } from 'node:fs';
import type * as JaxModule from '@jax-js/jax';
import type { RankOnMachine } from '../../gpus/machine-gpus.ts';
import { findRankAdapter, gpuUnavailable } from '../../kernels/webgpu/dawn.ts';
import { chooseBackend, type Backend } from './backend-choice.ts';
import { keepKernels } from './kernel-cache.ts';

export type Jax = typeof JaxModule;
export type JaxArray = JaxModule.Array;

export interface RuntimeOptions {
  readonly backend: Backend | 'auto';
  /** Most threads that the library may start. */
  readonly threads: number;
  /** The rank among those of its machine; default: it is the only one. */
  readonly rankOnMachine?: RankOnMachine | undefined;
  /**
   * Memory in which the CPU computes, for our bundles (scripts/jax-memory.ts); default: the
   * library's.
   */
  readonly memory?: WebAssembly.Memory | undefined;
}

export interface JaxRuntime {
  readonly jax: Jax;
  readonly backend: Backend;
  /** Name of what computes, as records show it: the GPU's, or "CPU (WebAssembly)". */
  readonly device: string;
  /** A GPU's PCI bus id, as nvidia-smi prints it, if that is known. */
  readonly bus: string | undefined;
  /** Reason that `auto` did not choose a GPU, if it did not. */
  readonly why: string | undefined;
  /**
   * Ends one use. With the last use of a GPU its device is destroyed, for good: jax-js
   * cannot open it again in this process.
   */
  release(): void;
}

const ALONE: RankOnMachine = { place: 0, ranks: 1, share: false };

let opening: Promise<JaxRuntime> | undefined;
let uses = 0;

/**
 * The runtime of this process, opened by the first call. There is one: later calls
 * share it and must not ask for another backend. Each caller releases it once.
 * @throws GradwireError `BACKEND_UNAVAILABLE` if `webgpu` is requested and there is no
 * adapter; `GPU_SHARED` if other ranks have the machine's GPUs
 */
export async function openJaxRuntime(options: RuntimeOptions): Promise<JaxRuntime> {
  if (opening === undefined) {
    opening = open(options);
    opening.catch(() => {
      // The caller below gets the error; the next call may try again.
      opening = undefined;
    });
  }
  const runtime = await opening;
  if (options.backend !== 'auto' && options.backend !== runtime.backend) {
    throw new Error(
      `internal: jax-js runs on ${runtime.backend}, asked for ${options.backend}`,
    );
  }
  uses++;
  return runtime;
}

async function open(options: RuntimeOptions): Promise<JaxRuntime> {
  const { backend: wanted, threads, rankOnMachine = ALONE } = options;
  const search =
    wanted === 'webgpu' || (wanted === 'auto' && mayHaveGpu())
      ? await findRankAdapter(wanted === 'webgpu', rankOnMachine)
      : 'the machine has no GPU';
  const { backend, why } = chooseBackend({
    wanted,
    found: search,
    sharers: rankOnMachine.share ? 1 : rankOnMachine.ranks,
    unavailable: gpuUnavailable,
  });
  const found =
    backend === 'wasm' || typeof search === 'string' || 'taken' in search
      ? undefined
      : search;
  Object.defineProperty(globalThis, 'navigator', {
    value: {
      hardwareConcurrency: Math.max(1, Math.floor(threads)),
      userAgent: `node/${process.versions.node}`,
      ...(found === undefined ? {} : { gpu: found.gpu }),
    },
    configurable: true,
    writable: true,
  });
  keepKernels();
  Object.assign(globalThis, { jaxMemory: options.memory });
  const jax = await import('@jax-js/jax');
  const ready = await jax.init(backend);
  if (!ready.includes(backend)) {
    throw gpuUnavailable('the WebGPU adapter returned no device');
  }
  jax.defaultDevice(backend);
  return {
    jax,
    backend,
    device: found?.name ?? 'CPU (WebAssembly)',
    bus: found?.bus,
    why,
    release: () => {
      uses--;
      if (uses > 0 || found === undefined) return;
      jax.getWebGPUDevice().destroy();
      Reflect.deleteProperty(globalThis, 'navigator');
      opening = Promise.reject(new Error('internal: the GPU was released for good'));
      opening.catch(() => undefined);
    },
  };
}

/**
 * Whether to look for a GPU. Loading Dawn costs some 100 ms and 50 MB, which a worker on
 * a machine without a GPU should not pay; on Linux a GPU shows as a device file.
 */
export function mayHaveGpu(): boolean {
  if (process.platform !== 'linux') return true;
  if (existsSync('/dev/nvidia0')) return true;
  if (!existsSync('/dev/dri')) return false;
  return readdirSync('/dev/dri').some((name) => name.startsWith('renderD'));
}
