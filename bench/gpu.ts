/**
 * The WebGPU kernels on this machine's GPU, timed by the device's own clock: beside a
 * copy from device memory to device memory, which is what memory allows, and top-k 0.1 %.
 *
 *   node bench/gpu.ts [--n 1M,25M] [--plain] [--json]
 *
 * What would be noticed here: a kernel that leaves memory speed. How to read it, and what
 * was measured: docs/benchmarks.md.
 */
import { parseArgs } from 'node:util';
import { DeviceKernels } from '../src/agent/kernels/webgpu/device-kernels.ts';
import { STRETCH } from '../src/agent/kernels/webgpu/device-quantization.ts';
import {
  openGpuDevice,
  type GpuDevice,
} from '../src/agent/kernels/webgpu/gpu-device.ts';
import { wholeOf } from '../src/agent/kernels/webgpu/gpu-vector.ts';
import { CounterRandom } from '../src/agent/kernels/random.ts';
import { runsOf } from '../src/agent/kernels/quantization.ts';
import { timeOnDevice } from './gpu/device-time.ts';
import { reportError } from '../src/cli/text/report-error.ts';
import { inputError } from '../src/shared/errors/errors.ts';
import { parseLength } from './vector-length.ts';
import './parent.ts';

interface Row {
  readonly kernel: string;
  readonly n: number;
  /** Median on the device. */
  readonly ms: number;
  /** Bytes that it must read and write at least, per second. Absent: too quick to tell. */
  readonly gigabytesPerSecond?: number;
  /** The share of the copy's speed. */
  readonly share?: number;
}

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      n: { type: 'string', default: '1M,25M' },
      /** Measures without subgroup operations. */
      plain: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  using gpu = await openGpuDevice({ subgroups: !options.plain, exactClock: true });
  if (!gpu.device.features.has('timestamp-query')) {
    throw inputError('GPU_CLOCK_MISSING', `${gpu.name} has no timestamp-query`, {
      next: 'Its kernels cannot be timed by its own clock.',
    });
  }
  const rows: Row[] = [];
  for (const n of options.n.split(',').map(parseLength)) {
    rows.push(...(await measure(gpu, n)));
  }
  print(gpu, rows, options.json);
}

/** All kernels on vectors of n elements, sums of two uniform numbers. */
async function measure(gpu: GpuDevice, n: number): Promise<Row[]> {
  using kernels = new DeviceKernels(gpu);
  const [x, y] = [gpu.allocateVector(n), gpu.allocateVector(n)];
  const random = new CounterRandom({ seed: 1 });
  const values = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    values[i] = random.uniform(2 * i) + random.uniform(2 * i + 1) - 1;
  }
  gpu.write(x, values);
  const made: Row[] = [];
  const time = async (
    kernel: string,
    bytes: number,
    work: () => unknown,
  ): Promise<void> => {
    const ms = await timeOnDevice(gpu, work);
    if (ms === 0) {
      made.push({ kernel, n, ms });
      return;
    }
    const gigabytesPerSecond = bytes / ms / 1e6;
    const copy = made.length === 0 ? gigabytesPerSecond : made[0]!.gigabytesPerSecond;
    const share = copy === undefined ? {} : { share: gigabytesPerSecond / copy };
    made.push({ kernel, n, ms, gigabytesPerSecond, ...share });
  };

  const { elementwise, quantization } = kernels;
  await time('copy', 8 * n, () => elementwise.copy(y, x));
  await time('add', 12 * n, () => elementwise.add(y, x));
  await time('scale', 8 * n, () => elementwise.scale(y, 0.5));
  await time('shift by sign', 8 * n, () => elementwise.shiftBySign(y, 0.1, 0.1));
  await time('sums by sign', 4 * n, () => void kernels.sums.enqueueSums([x]));
  for (const share of [0.001, 0.01]) {
    const k = Math.ceil(share * n);
    using selection = kernels.selection(n, k);
    await time(`top-k ${100 * share} %`, 4 * n, () =>
      selection.selectTopK(x, k, false),
    );
  }
  const quantizer = { levels: 7, runLength: 512 };
  const runs = runsOf(n, quantizer.runLength);
  const [scales, factors] = [gpu.allocate(4 * runs), gpu.allocate(4 * runs)].map(
    wholeOf,
  );
  const codes = wholeOf(gpu.allocate(n / 2 + 4));
  await time('quantise, 4 bits', 4.5 * n, () => {
    quantization.scalesOf(x, quantizer, 'max', scales!, factors!);
    gpu.commands.clear(codes);
    for (let first = 0; first < n; first += STRETCH) {
      quantization.roundStretch(
        x,
        first,
        quantizer,
        { seed: 1 },
        scales!,
        factors!,
        codes,
      );
    }
  });
  gpu.destroy(scales!.buffer, factors!.buffer, codes.buffer);
  gpu.release(x);
  gpu.release(y);
  return made;
}

function print(gpu: GpuDevice, rows: readonly Row[], json: boolean): void {
  const { vendor, architecture, description } = gpu.device.adapterInfo;
  const device = { name: gpu.name, vendor, architecture, driver: description };
  const head = { device, subgroups: gpu.subgroups };
  if (json) {
    console.log(JSON.stringify({ ...head, rows }));
    return;
  }
  console.log(
    `${gpu.name} (${[vendor, architecture].filter((x) => x !== '').join(', ')}), ` +
      `subgroups ${gpu.subgroups ? 'used' : 'not used'}`,
  );
  console.table(
    rows.map(({ kernel, n, ms, gigabytesPerSecond, share }) => ({
      kernel,
      n,
      ms: Number(ms.toFixed(3)),
      'GB/s': gigabytesPerSecond?.toPrecision(3) ?? '',
      'of copy': share === undefined ? '' : `${(100 * share).toFixed(0)} %`,
    })),
  );
}
