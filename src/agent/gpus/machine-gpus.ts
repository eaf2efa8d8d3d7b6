/**
 * Which of the devices that Vulkan names are this machine's GPUs, and which of them a rank
 * takes. Pure: what is there is read in `vulkan-devices.ts`.
 */

/** As VkPhysicalDeviceType has them. */
export type DeviceKind = 'other' | 'integrated' | 'discrete' | 'virtual' | 'software';

export interface VulkanDevice {
  /** VkPhysicalDevice, valid for one VkInstance. */
  readonly handle: number;
  readonly name: string;
  readonly kind: DeviceKind;
  /** As nvidia-smi prints it: `00000000:3B:00.0`; undefined where the driver does not say. */
  readonly bus: string | undefined;
}

/** A GPU of this machine, however many instances name it. */
export interface MachineGpu extends VulkanDevice {
  /** Names it among those of this machine: its bus id, or its place where it has none. */
  readonly id: string;
}

/** A rank among those of its machine. */
export interface GpuSeat {
  /** 0, 1, …: its place among the ranks of this machine. */
  readonly place: number;
  readonly ranks: number;
  /** Ranks may share GPUs. */
  readonly share: boolean;
}

/** Dawn's order too, where it is asked for high performance. */
const BEST_FIRST: readonly DeviceKind[] = [
  'discrete',
  'integrated',
  'virtual',
  'other',
];

/**
 * The GPUs that ranks can be dealt over: those of the best kind that there is, so that no
 * rank gets the processor's own GPU beside one that has a card. A GPU with two drivers
 * counts once, by its bus id. No software.
 * @param ranks of this machine. Of several, GPUs are ordered by bus id, the same in every
 * process; a lone rank leaves the order to the drivers, and so to what users set for them.
 */
export function machineGpus(
  devices: readonly VulkanDevice[],
  ranks: number,
): readonly MachineGpu[] {
  const kind = BEST_FIRST.find((one) => devices.some((device) => device.kind === one));
  const seen = new Set<string>();
  const gpus = devices
    .filter((device) => device.kind === kind)
    .map((device, i) => ({ ...device, id: device.bus ?? `GPU ${i}` }))
    .filter(({ id }) => !seen.has(id) && seen.add(id));
  return ranks === 1 ? gpus : gpus.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * GPUs in the order in which a rank tries them: its own; where another run's rank has that
 * one, first those which no rank of its own run has a claim to.
 */
export function triedInOrder(
  gpus: readonly MachineGpu[],
  { place, ranks, share }: GpuSeat,
): readonly MachineGpu[] {
  if (gpus.length === 0) return [];
  const own = gpus[place % gpus.length]!;
  if (share) return [own];
  const spare = gpus.slice(ranks);
  const siblings = gpus.slice(0, ranks).filter((gpu) => gpu !== own);
  return [own, ...spare.filter((gpu) => gpu !== own), ...siblings];
}

/** @param function `pciFunction`: 0…7 */
export function busId(
  domain: number,
  bus: number,
  device: number,
  pciFunction: number,
): string {
  const hex = (value: number, digits: number): string =>
    value.toString(16).toUpperCase().padStart(digits, '0');
  return `${hex(domain, 8)}:${hex(bus, 2)}:${hex(device, 2)}.${hex(pciFunction, 1)}`;
}
