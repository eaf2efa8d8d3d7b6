/**
 * The devices that Vulkan's loader reports for an instance, with their PCI bus ids.
 * Called through koffi; layouts and numbers are those of Vulkan 1.1 and
 * VK_EXT_pci_bus_info.
 */
import type { LibraryHandle } from 'koffi';
import { busId, type DeviceKind, type VulkanDevice } from './machine-gpus.ts';

/** VkPhysicalDeviceType */
const KINDS: readonly DeviceKind[] = [
  'other',
  'integrated',
  'discrete',
  'virtual',
  'software',
];

/** VkStructureType */
const PROPERTIES_2 = 1_000_059_001;
const PCI_BUS_INFO = 1_000_212_000;
/** VkPhysicalDeviceProperties2 has 840 bytes. */
const PROPERTIES_BYTES = 1024;
/** Offsets in it of VkPhysicalDeviceProperties and, within these, of type and name. */
const AT = { next: 8, properties: 16, kind: 16 + 16, name: 16 + 20 };
const NAME_BYTES = 256;
const PCI_BYTES = 32;
const PCI = { domain: 16, bus: 20, device: 24, function: 28 };
/** VkExtensionProperties */
const EXTENSION_BYTES = 260;
const PCI_EXTENSION = 'VK_EXT_pci_bus_info';

const ADDRESS = 'uintptr_t';

export interface VulkanDevices {
  /** Lists all devices of an instance, in the loader's order. @throws Error with VkResult */
  of(instance: number): readonly VulkanDevice[];
}

/**
 * @param addressOf of a buffer's first byte
 * @throws Error if the loader is older than Vulkan 1.1
 */
export function vulkanDevices(
  vulkan: LibraryHandle,
  addressOf: (buffer: Buffer) => number,
): VulkanDevices {
  const enumerate = vulkan.func('vkEnumeratePhysicalDevices', 'int', [
    ...[ADDRESS, ADDRESS, ADDRESS],
  ]) as (instance: number, count: number, devices: number) => number;
  const properties = vulkan.func('vkGetPhysicalDeviceProperties2', 'void', [
    ...[ADDRESS, ADDRESS],
  ]) as (device: number, into: number) => void;
  const extensions = vulkan.func('vkEnumerateDeviceExtensionProperties', 'int', [
    ...[ADDRESS, ADDRESS, ADDRESS, ADDRESS],
  ]) as (device: number, layer: number, count: number, list: number) => number;

  /** Calls that are made twice: for the count, then for the elements. */
  const list = (
    bytes: number,
    call: (count: number, elements: number) => number,
  ): Buffer => {
    const count = Buffer.alloc(4);
    check(call(addressOf(count), 0));
    const elements = Buffer.alloc(count.readUInt32LE() * bytes);
    if (elements.length > 0) check(call(addressOf(count), addressOf(elements)));
    return elements.subarray(0, count.readUInt32LE() * bytes);
  };

  const tellsBus = (device: number): boolean => {
    const all = list(EXTENSION_BYTES, (count, elements) =>
      extensions(device, 0, count, elements),
    );
    for (let at = 0; at < all.length; at += EXTENSION_BYTES) {
      if (text(all.subarray(at, at + NAME_BYTES)) === PCI_EXTENSION) return true;
    }
    return false;
  };

  const describe = (handle: number): VulkanDevice => {
    const bus = tellsBus(handle) ? Buffer.alloc(PCI_BYTES) : undefined;
    bus?.writeUInt32LE(PCI_BUS_INFO);
    const all = Buffer.alloc(PROPERTIES_BYTES);
    all.writeUInt32LE(PROPERTIES_2);
    if (bus !== undefined) all.writeBigUInt64LE(BigInt(addressOf(bus)), AT.next);
    properties(handle, addressOf(all));
    return {
      handle,
      name: text(all.subarray(AT.name, AT.name + NAME_BYTES)),
      kind: KINDS[all.readUInt32LE(AT.kind)] ?? 'other',
      bus: bus && busOf(bus),
    };
  };

  return {
    of: (instance) => {
      const handles = list(8, (count, elements) =>
        enumerate(instance, count, elements),
      );
      return Array.from({ length: handles.length / 8 }, (_, i) =>
        describe(Number(handles.readBigUInt64LE(8 * i))),
      );
    },
  };
}

function check(result: number): void {
  if (result < 0) throw new Error(`Vulkan returned error ${result}`);
}

function text(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? undefined : end);
}

function busOf(info: Buffer): string {
  const [domain, bus, device, ofFunction] = [
    PCI.domain,
    PCI.bus,
    PCI.device,
    PCI.function,
  ].map((at) => info.readUInt32LE(at));
  return busId(domain!, bus!, device!, ofFunction!);
}
