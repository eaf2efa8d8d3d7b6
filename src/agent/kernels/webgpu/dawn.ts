/**
 * Dawn, the WebGPU implementation that runs in Node, and the adapter that it finds. Dawn is
 * a native library that loads the machine's Vulkan, Metal or Direct3D 12 driver: loading
 * it costs some 100 ms and 50 MB, so only what needs a GPU calls these.
 */
import type * as Dawn from 'webgpu';
import { inputError, type GradwireError } from '../../../shared/errors.ts';
import { pacePolling } from './paced-polling.ts';
import { provideVulkanLoader } from './vulkan-loader.ts';

const BEST: GPURequestAdapterOptions = { powerPreference: 'high-performance' };

/**
 * WebGPU has workgroups' memory begin as zeros, which in software costs more than the
 * kernels: without, SwiftShader compiles all of them in a quarter of the time and takes a
 * third for top-k of a million elements. The kernels here, and those of jax-js 0.1.25, read
 * there only what they have written; on a GPU zeros stay as they are.
 */
const SOFTWARE_OPTIONS = ['enable-dawn-features=disable_workgroup_init'];

export interface FoundAdapter {
  readonly gpu: GPU;
  readonly adapter: GPUAdapter;
  /** As errors and records show it. */
  readonly name: string;
  /** It computes on the CPU. */
  readonly software: boolean;
}

/** The best adapter, or in words why there is none; software counts if asked for. */
export async function findAdapter(
  acceptSoftware: boolean,
): Promise<FoundAdapter | string> {
  const dawn = await loadDawn();
  if (typeof dawn === 'string') return dawn;
  await provideVulkanLoader();
  Object.assign(globalThis, dawn.globals);
  let gpu = dawn.create([]);
  let adapter = await gpu.requestAdapter(BEST);
  const software = adapter?.info.isFallbackAdapter === true;
  if (software) {
    if (!acceptSoftware) return 'the only WebGPU adapter is a software one';
    pacePolling();
    gpu = dawn.create(SOFTWARE_OPTIONS);
    adapter = await gpu.requestAdapter(BEST);
  }
  if (adapter === null) return 'no WebGPU adapter was found';
  const { description, device, vendor } = adapter.info;
  return { gpu, adapter, name: description || device || vendor || 'GPU', software };
}

/** The error where `backend: webgpu` is not available. */
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
