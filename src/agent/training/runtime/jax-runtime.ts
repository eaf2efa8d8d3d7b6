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
import { DeviceFaults } from '../../kernels/webgpu/device-faults.ts';
import { chooseBackend, type Backend } from './backend-choice.ts';
import { keepKernels } from './kernel-cache.ts';
import { startBackend } from './start-backend.ts';

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
   * Results of jax-js, which says nothing of what goes wrong on a GPU: it reads zeros
   * after a failed command, and fails without a reason once the GPU is lost. All that it
   * computes is awaited by this.
   * @throws GradwireError `GPU_LOST`, `GPU_MEMORY`; an internal error for any other fault
   */
  watch<T>(results: () => T | Promise<T>): Promise<T>;
  /** @throws as `watch`, what is known now */
  check(): void;
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
  const chosen = chooseBackend({
    wanted,
    found: search,
    sharers: rankOnMachine.share ? 1 : rankOnMachine.ranks,
    unavailable: gpuUnavailable,
  });
  const found =
    chosen.backend === 'wasm' || typeof search === 'string' || 'taken' in search
      ? undefined
      : search;
  provideNavigator(threads, found?.gpu);
  keepKernels();
  Object.assign(globalThis, { jaxMemory: options.memory });
  const jax = await import('@jax-js/jax');
  const { backend, why } = await startBackend(jax, {
    wanted,
    chosen,
    giveBack: () => found?.giveBack(),
    unavailable: gpuUnavailable,
  });
  if (backend === 'wasm' || found === undefined) {
    // Without a GPU that was found but gave no device.
    provideNavigator(threads);
    return {
      jax,
      backend,
      device: 'CPU (WebAssembly)',
      bus: undefined,
      why,
      watch: async (results) => await results(),
      check: () => undefined,
      release: () => {
        uses--;
      },
    };
  }
  const device = jax.getWebGPUDevice();
  const faults = new DeviceFaults(device, found.name);
  return {
    jax,
    backend,
    device: found.name,
    bus: found.bus,
    why,
    watch: (results) => faults.watch(results),
    check: () => {
      faults.check();
    },
    release: () => {
      uses--;
      if (uses > 0) return;
      faults.close();
      device.destroy();
      Reflect.deleteProperty(globalThis, 'navigator');
      opening = Promise.reject(new Error('internal: the GPU was released for good'));
      opening.catch(() => undefined);
    },
  };
}

/** Gives jax-js what it reads of a browser. */
function provideNavigator(threads: number, gpu?: GPU): void {
  Object.defineProperty(globalThis, 'navigator', {
    value: {
      hardwareConcurrency: Math.max(1, Math.floor(threads)),
      userAgent: `node/${process.versions.node}`,
      ...(gpu === undefined ? {} : { gpu }),
    },
    configurable: true,
    writable: true,
  });
}

/**
 * Whether to look for a GPU. Loading Dawn costs some 100 ms and 50 MB, which a worker on
 * a machine without a GPU should not pay; on Linux a GPU shows as a device file.
 */
export function mayHaveGpu(): boolean {
  if (process.platform !== 'linux') return true;
  return ['/dev', '/dev/dri'].some(
    (folder) => existsSync(folder) && hasGpuFile(readdirSync(folder)),
  );
}

/**
 * Whether a GPU's device file is among those of /dev or /dev/dri. The first need not be
 * there: in a container, the machine's fourth GPU may be the only one.
 */
export const hasGpuFile = (names: readonly string[]): boolean =>
  names.some((name) => /^(nvidia|renderD)\d+$/.test(name));
