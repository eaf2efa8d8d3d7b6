/**
 * Dawn, the WebGPU implementation that runs in Node, and the adapter that it finds. Dawn is
 * a native library that loads the machine's Vulkan, Metal or Direct3D 12 driver: loading
 * it costs some 100 ms and 50 MB, so only what needs a GPU calls these.
 */
import type * as Dawn from 'webgpu';
import { inputError, type GradwireError } from '../../../shared/errors.ts';
import { pacePolling } from './paced-polling.ts';

export interface FoundAdapter {
  readonly gpu: GPU;
  readonly adapter: GPUAdapter;
  /** For people. */
  readonly name: string;
}

/** The best adapter, or in words why there is none; software counts if asked for. */
export async function findAdapter(
  acceptSoftware: boolean,
): Promise<FoundAdapter | string> {
  const dawn = await loadDawn();
  if (typeof dawn === 'string') return dawn;
  Object.assign(globalThis, dawn.globals);
  const gpu = dawn.create([]);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) return 'no WebGPU adapter was found';
  if (adapter.info.isFallbackAdapter && !acceptSoftware) {
    return 'the only WebGPU adapter is a software one';
  }
  if (adapter.info.isFallbackAdapter) pacePolling();
  const { description, device, vendor } = adapter.info;
  return { gpu, adapter, name: description || device || vendor || 'GPU' };
}

/** What `backend: webgpu` cannot be had for. */
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
