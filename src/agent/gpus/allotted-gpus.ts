/**
 * GPUs that a scheduler has allotted to this process. Vulkan lists all devices of a machine
 * unless the scheduler hides the others, so a rank would compute on those of other jobs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { busId, machineGpus, type VulkanDevice } from './machine-gpus.ts';

/** One directory for each GPU that NVIDIA's driver serves. */
const DRIVER = '/proc/driver/nvidia/gpus';

/** Variables with Slurm's own numbers of GPUs, the narrowest first. */
const SLURM_VARIABLES = ['SLURM_STEP_GPUS', 'SLURM_JOB_GPUS'];
const CUDA_VARIABLE = 'CUDA_VISIBLE_DEVICES';
/** Says how CUDA counts; default: the fastest GPU first, which only CUDA itself can tell. */
const ORDER_VARIABLE = 'CUDA_DEVICE_ORDER';
/** Values of CUDA's variable for no GPU; the second is Slurm's. */
const NO_GPU: ReadonlySet<string> = new Set(['-1', 'NoDevFiles']);

interface DriverGpu {
  readonly bus: string;
  /** Number of its device file. */
  readonly minor: string | undefined;
  readonly uuid: string | undefined;
  readonly model: string | undefined;
}

interface Allotment {
  readonly variable: string;
  readonly ids: readonly string[];
  /** Whether numbers are those of device files; otherwise CUDA's. */
  readonly byMinor: boolean;
  /** Whether CUDA counts in the order of the bus, whatever the GPUs. */
  readonly inBusOrder: boolean;
}

/**
 * Returns the devices without the GPUs that are allotted to others.
 * @throws Error if the allotted ones cannot be told from others
 */
export function allottedDevices(
  devices: readonly VulkanDevice[],
  environment: NodeJS.ProcessEnv = process.env,
  driver = DRIVER,
): readonly VulkanDevice[] {
  const allotment = allotmentOf(environment);
  if (allotment === undefined) return devices;
  const gpus = driverGpus(driver);
  const found = allotment.ids.map((id) => busOf(id, gpus, allotment));
  const buses = found.filter((bus) => bus !== undefined);
  if (buses.length < found.length) {
    const { length } = machineGpus(devices, 1);
    // As many as are allotted, or fewer, are its own.
    if (!allotment.byMinor || length <= found.length) return devices;
    throw new Error(
      `this machine shows ${length} GPUs, and which of them are allotted cannot be told: ` +
        `${allotment.variable}=${allotment.ids.join(',')}`,
    );
  }
  const seen = new Set(devices.map(({ bus }) => bus));
  // The others are hidden already, and numbers may be counted anew among those left.
  if (buses.some((bus) => !seen.has(bus))) return devices;
  const others = new Set(gpus.map(({ bus }) => bus));
  for (const bus of buses) others.delete(bus);
  return devices.filter(({ bus }) => bus === undefined || !others.has(bus));
}

function allotmentOf(environment: NodeJS.ProcessEnv): Allotment | undefined {
  const variable = [...SLURM_VARIABLES, CUDA_VARIABLE].find(
    (name) => environment[name] !== undefined,
  );
  if (variable === undefined) return undefined;
  const ids = environment[variable]!.split(',').map((id) => id.trim());
  return {
    variable,
    ids: ids.filter((id) => id !== '' && !NO_GPU.has(id)),
    // Slurm writes these numbers into CUDA's variable, too.
    byMinor: variable !== CUDA_VARIABLE || environment.SLURM_JOB_ID !== undefined,
    inBusOrder: environment[ORDER_VARIABLE] === 'PCI_BUS_ID',
  };
}

function busOf(
  id: string,
  gpus: readonly DriverGpu[],
  { byMinor, inBusOrder }: Allotment,
): string | undefined {
  // A UUID may be shortened.
  if (id.startsWith('GPU-')) return gpus.find(({ uuid }) => uuid?.startsWith(id))?.bus;
  if (!/^\d+$/.test(id)) return undefined;
  if (byMinor) return gpus.find(({ minor }) => minor === id)?.bus;
  return inBusOrder || areAlike(gpus) ? gpus[Number(id)]?.bus : undefined;
}

/** Whether none is faster than another: then CUDA's default is the order of the bus, too. */
const areAlike = (gpus: readonly DriverGpu[]): boolean =>
  gpus.every(({ model }) => model !== undefined && model === gpus[0]!.model);

/** The GPUs of NVIDIA's driver, in the order of the bus; none without it. */
function driverGpus(driver: string): readonly DriverGpu[] {
  const gpus = namesIn(driver).flatMap((name): DriverGpu[] => {
    const location = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)\.([0-9a-f])$/i.exec(name);
    if (location === null) return [];
    const [domain, bus, device, ofFunction] = location
      .slice(1)
      .map((part) => Number.parseInt(part, 16));
    const about = textOf(path.join(driver, name, 'information'));
    return [
      {
        bus: busId(domain!, bus!, device!, ofFunction!),
        minor: /^Device Minor:\s*(\d+)/m.exec(about)?.[1],
        uuid: /^GPU UUID:\s*(\S+)/m.exec(about)?.[1],
        model: /^Model:\s*(\S.*)/m.exec(about)?.[1]?.trim(),
      },
    ];
  });
  return gpus.toSorted((a, b) => (a.bus < b.bus ? -1 : 1));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // No such driver, or a container that does not show it.
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
