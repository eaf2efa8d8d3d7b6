/** Time that work takes on a GPU, by its own clock. */
import type { GpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';

const SAMPLES = 7;

/**
 * Median milliseconds between a stamp before and a stamp after the commands that `work`
 * enqueues, after one call to warm up. Journeys to the host are not in it.
 */
export async function timeOnDevice(
  gpu: GpuDevice,
  work: () => unknown,
): Promise<number> {
  const { device, commands, ring } = gpu;
  const querySet = device.createQuerySet({ type: 'timestamp', count: 2 });
  const resolved = device.createBuffer({
    size: 256,
    usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
  });
  const times: number[] = [];
  for (let sample = 0; sample <= SAMPLES; sample++) {
    commands.stamp(querySet, 0);
    work();
    commands.stamp(querySet, 1);
    commands.resolve(querySet, 2, resolved);
    const stamps = new BigUint64Array(2);
    await ring.read(resolved, 0, new Uint8Array(stamps.buffer));
    if (sample > 0) times.push(Number(stamps[1]! - stamps[0]!) / 1e6);
  }
  gpu.destroy(resolved);
  querySet.destroy();
  return times.sort((a, b) => a - b)[(SAMPLES - 1) / 2]!;
}
