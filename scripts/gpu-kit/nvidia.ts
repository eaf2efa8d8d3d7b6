/** GPUs as nvidia-smi lists them: by bus id, which is what Vulkan and PyTorch name, too. */
import { runProgram } from './program.ts';

export interface NvidiaGpu {
  readonly uuid: string;
  /** The bus id, as `00000000:3B:00.0`. */
  readonly bus: string;
  readonly name: string;
  readonly driver: string;
  readonly memory: string;
  readonly computeMode: string;
  /** Whether it is split into instances, which CUDA sees in place of it. */
  readonly mig: string;
}

const FIELDS = [
  ...['uuid', 'pci.bus_id', 'name', 'driver_version', 'memory.total', 'compute_mode'],
  'mig.mode.current',
];

/** None without nvidia-smi, or if it fails. */
export async function nvidiaGpus(env: NodeJS.ProcessEnv): Promise<readonly NvidiaGpu[]> {
  const rows = await query(FIELDS, 20, env);
  return rows.map(
    ([uuid = '', bus = '', name = '', driver = '', memory = '', mode = '', mig = '']) => ({
      uuid, name, driver, memory, mig, bus: bus.toUpperCase(),
      computeMode: mode,
    }),
  );
}

/** Memory in use by all processes, MiB, by bus id; MIG and some containers tell none. */
export async function usedMiB(
  env: NodeJS.ProcessEnv,
): Promise<ReadonlyMap<string, number>> {
  const rows = await query(['pci.bus_id', 'memory.used'], 10, env);
  return new Map(
    rows
      .map(([bus = '', used = '']) => [bus.toUpperCase(), Number.parseFloat(used)] as const)
      .filter(([, used]) => Number.isFinite(used)),
  );
}

async function query(
  fields: readonly string[],
  seconds: number,
  env: NodeJS.ProcessEnv,
): Promise<string[][]> {
  const { code, stdout } = await runProgram(
    'nvidia-smi',
    [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader'],
    { seconds, env },
  );
  if (code !== 0) return [];
  const lines = stdout.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.split(',').map((cell) => cell.trim()));
}

/**
 * Variables that let CUDA see the GPU that Vulkan took, and no other: CUDA counts the fastest first
 * unless told otherwise, and Vulkan's order is another one again. An instance of a split
 * GPU has its own name, which only the user knows.
 */
export function cudaSees(
  gpus: readonly NvidiaGpu[],
  bus: string | undefined,
): Readonly<Record<string, string>> {
  const order = { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };
  const taken = gpus.find((gpu) => gpu.bus === bus);
  if (taken === undefined || taken.mig === 'Enabled') return order;
  return { ...order, CUDA_VISIBLE_DEVICES: taken.uuid };
}
