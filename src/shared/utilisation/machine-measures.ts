/** Measures of a machine: what each is called and means, for the page, the command and the export alike. */
import type { UtilisationRecord } from '../records/utilisation.ts';

export interface MachineMeasureDefinition {
  readonly title: string;
  /** The heading of a narrow column. */
  readonly short: string;
  /** `rate`: bytes per second. */
  readonly unit: 'share' | 'rate';
  readonly meaning: string;
}

export const MACHINE_MEASURES = {
  busy: {
    title: 'processors busy',
    short: 'busy',
    unit: 'share',
    meaning: 'share of the processors that are busy, with anything',
  },
  run: {
    title: 'this run',
    short: 'run',
    unit: 'share',
    meaning: 'share of the processors that the ranks and their supervisor keep busy',
  },
  others: {
    title: 'other programs',
    short: 'others',
    unit: 'share',
    meaning: 'share of the processors that everything else keeps busy',
  },
  stolen: {
    title: 'taken by the host',
    short: 'host',
    unit: 'share',
    meaning:
      'share of the processors that the host of a virtual machine gives to others',
  },
  memory: {
    title: 'memory in use',
    short: 'memory',
    unit: 'share',
    meaning: 'share of the memory that is in use and cannot be given to others',
  },
  sent: {
    title: 'sent',
    short: 'sent',
    unit: 'rate',
    meaning: 'bytes per second that leave the machine, of all programs',
  },
  received: {
    title: 'received',
    short: 'received',
    unit: 'rate',
    meaning: 'bytes per second that reach the machine, of all programs',
  },
  loopback: {
    title: 'over loopback',
    short: 'loopback',
    unit: 'rate',
    meaning:
      'bytes per second over the loopback interface, of all programs; ranks of one machine use Unix sockets where they can, which are not in it',
  },
  gpu: {
    title: 'GPUs busy',
    short: 'GPUs',
    unit: 'share',
    meaning: 'share of the time in which something runs on a GPU, the mean over all',
  },
  gpuMemory: {
    title: 'GPU memory in use',
    short: 'GPU memory',
    unit: 'share',
    meaning: 'share of the memory of the GPUs that is in use',
  },
} as const satisfies Readonly<Record<string, MachineMeasureDefinition>>;

export type MachineMeasure = keyof typeof MACHINE_MEASURES;

export const MACHINE_MEASURE_IDS = Object.keys(
  MACHINE_MEASURES,
) as readonly MachineMeasure[];

/** Values by measure; what was not observed is left out, or undefined. */
export type MachineValues = Readonly<
  Partial<Record<MachineMeasure, number | undefined>>
>;

/** The measures of a record; shares are 0…1. */
export function machineValues(record: UtilisationRecord): MachineValues {
  const { gpus = [], memory, network } = record;
  return {
    ...processorValues(record),
    memory: memory && share(memory.used, memory.total),
    sent: network?.sent,
    received: network?.received,
    loopback: network?.loopback,
    gpu: mean(gpus.flatMap(({ busy }) => busy ?? [])),
    gpuMemory: gpuMemory(gpus),
  };
}

/** The share of all GPUs' memory together that is in use, as far as both are known. */
function gpuMemory(gpus: UtilisationRecord['gpus']): number | undefined {
  let [inUse, all] = [0, 0];
  for (const { memory, total } of gpus ?? []) {
    if (memory === undefined || total === undefined) continue;
    inUse += memory;
    all += total;
  }
  return all === 0 ? undefined : share(inUse, all);
}

function processorValues({ processors, ranks }: UtilisationRecord): MachineValues {
  if (processors === undefined) return {};
  const { busy, count, own = 0, stolen } = processors;
  const values = { busy: share(busy, count), stolen: stolen && share(stolen, count) };
  const known = ranks.flatMap((rank) => rank.busy ?? []);
  // Where it is not known what the ranks use, what others use is not known either.
  if (known.length === 0) return values;
  const run = Math.min(
    busy,
    known.reduce((a, b) => a + b, own),
  );
  return { ...values, run: share(run, count), others: share(busy - run, count) };
}

/** Clocks of processes and of processors tick at different moments. */
const share = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.min(1, part / whole);

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((a, b) => a + b) / values.length;
