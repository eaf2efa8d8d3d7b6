/**
 * Finds the devices that are this machine's GPUs among those that Vulkan reports, and those that a
 * rank uses. Pure: `vulkan-devices.ts` reads the devices.
 */

/** Kinds of devices, in the order of VkPhysicalDeviceType. */
export type DeviceKind = 'other' | 'integrated' | 'discrete' | 'virtual' | 'software';

export interface VulkanDevice {
  /** VkPhysicalDevice, valid for one VkInstance. */
  readonly handle: number;
  readonly name: string;
  readonly kind: DeviceKind;
  /**
   * PCI bus id as nvidia-smi prints it: `00000000:3B:00.0`; undefined if the driver does not report
   * it.
   */
  readonly bus: string | undefined;
}

/** A GPU of this machine, even if several instances report it. */
export interface MachineGpu extends VulkanDevice {
  /** Identifies it on this machine: its bus id, or its position if it has none. */
  readonly id: string;
}

/** A rank's position among those of its machine. */
export interface RankOnMachine {
  /** 0, 1, …: its position among the ranks of this machine. */
  readonly place: number;
  readonly ranks: number;
  /** Whether ranks may share GPUs. */
  readonly share: boolean;
}

/** Kinds of GPUs, best first; this is also Dawn's order, if high performance is requested. */
const BEST_FIRST: readonly DeviceKind[] = [
  'discrete',
  'integrated',
  'virtual',
  'other',
];

/**
 * The GPUs over which ranks can be distributed: those of the best available kind, so that
 * no rank gets an integrated GPU while another has a graphics card. A GPU with two
 * drivers counts once, by its bus id. Software devices are excluded.
 * @param ranks the number of ranks on this machine. For several, GPUs are ordered by bus
 * id, the same in every process; for a lone rank the drivers decide the order, and thus
 * users' settings for them.
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
 * GPUs in the order in which a rank tries them: first its own; if another run's rank has
 * that one, next those that no rank of its own run would try first.
 */
export function triedInOrder(
  gpus: readonly MachineGpu[],
  { place, ranks, share }: RankOnMachine,
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
