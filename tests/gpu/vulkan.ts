/**
 * The kernels' tests run in the process of the test. The Vulkan loader reads the
 * environment when Dawn first asks for an adapter, so importing this before is enough.
 */
import { canRunWebGpu, saySkipped, webGpuEnvironment } from '../harness/webgpu.ts';

Object.assign(process.env, webGpuEnvironment);
if (!canRunWebGpu) saySkipped('the kernels on WebGPU');

export const hasVulkan = canRunWebGpu;
