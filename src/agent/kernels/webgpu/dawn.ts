/**
 * Dawn, the WebGPU implementation that runs in Node, and the adapter that it finds. Dawn
 * is a native library that loads the machine's Vulkan, Metal or Direct3D 12 driver:
 * loading it costs some 100 ms and 50 MB, so only code that needs a GPU calls these.
 */
import type * as Dawn from 'webgpu';
import { inputError, type GradwireError } from '../../../shared/errors/errors.ts';
import { describeHolder } from '../../gpus/claim-holder.ts';
import { GpuView } from '../../gpus/gpu-view.ts';
import type { RankOnMachine } from '../../gpus/machine-gpus.ts';
import { pacePolling } from './paced-polling.ts';
import { provideVulkanLoader } from './vulkan-loader.ts';

const BEST: GPURequestAdapterOptions = { powerPreference: 'high-performance' };

/**
 * WebGPU initialises workgroup memory to zeros, which in software costs more than the
 * kernels: without this, SwiftShader compiles all of them in a quarter of the time and
 * takes a third for top-k of a million elements. The kernels here, and those of jax-js
 * 0.1.25, only read what they have written there; on a real GPU the zeroing stays.
 */
const SOFTWARE_OPTIONS = ['enable-dawn-features=disable_workgroup_init'];

/** Dawn rounds the device's clock to 65,536 ns, against pages that spy; a benchmark needs it whole. */
const EXACT_CLOCK = ['disable-dawn-features=timestamp_quantization'];

/** The only backend to use: another would offer GPUs that the rank must not use. */
const VULKAN = ['backend=vulkan'];

export interface FoundAdapter {
  readonly gpu: GPU;
  readonly adapter: GPUAdapter;
  /** Name of the adapter in errors and records. */
  readonly name: string;
  /** Whether it computes on the CPU. */
  readonly software: boolean;
}

/** An adapter for one of the ranks of a machine. */
export interface RankAdapter extends FoundAdapter {
  /** PCI bus id, as nvidia-smi prints it; undefined if unknown. */
  readonly bus: string | undefined;
  /**
   * The number of GPUs over which this machine's ranks are distributed; 1 if all use the
   * same.
   */
  readonly gpus: number;
  /** Reason that all ranks use the same GPU. */
  readonly whyOne: string | undefined;
  /** Lets other processes have it, for a rank that does not use it after all. */
  giveBack(): void;
}

/** All GPUs of the machine are in use by other processes. */
export interface GpusTaken {
  readonly taken: readonly {
    readonly name: string;
    readonly id: string;
    /** The process that has the GPU, in words. */
    readonly holder: string;
  }[];
}

/**
 * The best adapter, or in words why there is none; software counts if asked for.
 * @param exactClock whether the device's clock is not rounded
 */
export async function findAdapter(
  acceptSoftware: boolean,
  exactClock = false,
): Promise<FoundAdapter | string> {
  const dawn = await loadDawn();
  if (typeof dawn === 'string') return dawn;
  return await requestAdapter(dawn, acceptSoftware, exactClock ? EXACT_CLOCK : []);
}

/**
 * Finds an adapter for a rank, as `findAdapter`: its own GPU, if the machine has enough of them.
 */
export async function findRankAdapter(
  acceptSoftware: boolean,
  position: RankOnMachine,
): Promise<RankAdapter | GpusTaken | string> {
  const dawn = await loadDawn();
  if (typeof dawn === 'string') return dawn;
  await provideVulkanLoader();
  const view = await GpuView.open(position);
  if (typeof view === 'string') return await anyAdapter(dawn, acceptSoftware, view);
  const found = await requestAdapter(dawn, acceptSoftware, VULKAN).finally(() => {
    view.close();
  });
  const { chosen, failure, gpus, taken } = view;
  if (failure !== undefined) return `the GPUs cannot be listed (${failure})`;
  if (taken !== undefined) {
    return {
      taken: taken.map((gpu) => ({ ...gpu, holder: describeHolder(gpu.holder) })),
    };
  }
  if (typeof found !== 'string') {
    const name = chosen?.name ?? found.name;
    return {
      ...found,
      name,
      bus: chosen?.bus,
      gpus: gpus.length,
      whyOne: undefined,
      giveBack: () => {
        view.giveBack();
      },
    };
  }
  if (chosen === undefined) return found;
  view.giveBack();
  const why = `${found}: Dawn does not accept ${chosen.name} (${chosen.id})`;
  // A lone rank may use any other adapter.
  return position.ranks > 1 ? why : await anyAdapter(dawn, acceptSoftware, why);
}

/** The adapter that Dawn chooses, the same for all ranks of the machine. */
async function anyAdapter(
  dawn: typeof Dawn,
  acceptSoftware: boolean,
  whyOne: string,
): Promise<RankAdapter | string> {
  const found = await requestAdapter(dawn, acceptSoftware);
  if (typeof found === 'string') return found;
  return { ...found, bus: undefined, gpus: 1, whyOne, giveBack: () => undefined };
}

async function requestAdapter(
  dawn: typeof Dawn,
  acceptSoftware: boolean,
  options: readonly string[] = [],
): Promise<FoundAdapter | string> {
  await provideVulkanLoader();
  Object.assign(globalThis, dawn.globals);
  let gpu = dawn.create([...options]);
  let adapter = await gpu.requestAdapter(BEST);
  const software = adapter?.info.isFallbackAdapter === true;
  if (software) {
    if (!acceptSoftware) return 'the only WebGPU adapter is a software one';
    pacePolling();
    gpu = dawn.create([...options, ...SOFTWARE_OPTIONS]);
    adapter = await gpu.requestAdapter(BEST);
  }
  if (adapter === null) return 'no WebGPU adapter was found';
  const { description, device, vendor } = adapter.info;
  return { gpu, adapter, name: description || device || vendor || 'GPU', software };
}

/** The error if `backend: webgpu` is not available. */
export function gpuUnavailable(why: string): GradwireError {
  return inputError('BACKEND_UNAVAILABLE', why, {
    place: 'backend: webgpu',
    next: 'Use "backend: wasm", or install the GPU’s Vulkan driver and loader (libvulkan1).',
  });
}

/** Dawn, or why it cannot be loaded: it is a native library, absent on some nodes. */
async function loadDawn(): Promise<typeof Dawn | string> {
  try {
    return await import('webgpu');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
      return 'the package "webgpu" is not installed beside Gradwire';
    }
    if (code === 'ERR_DLOPEN_FAILED') {
      return `the package "webgpu" does not load (${(error as Error).message})`;
    }
    throw error;
  }
}
