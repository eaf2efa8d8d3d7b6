/**
 * Limits what Dawn sees of this machine's GPUs to the one that its rank uses. WebGPU
 * cannot name the second of two equal GPUs, and neither can Dawn's options nor the
 * settings of Vulkan's loader (decision 060). So the agent stands in for the loader: when
 * Dawn asks the dynamic linker for `vkGetInstanceProcAddr`, it gets ours, which returns
 * the loader's functions except `vkEnumeratePhysicalDevices`. Everything else goes to the
 * loader directly.
 *
 * Dawn reaches `dlsym` through a slot of its global offset table; that slot is changed
 * while Dawn looks for an adapter. Nothing is changed unless the slot is found, writable,
 * and has the value that it should have.
 *
 * Verified with webgpu 0.6.2 (dawn.node of Linux): it is bound lazily, its slots are
 * writable, and all of these calls come from the thread that asks for an adapter.
 */
import type * as Koffi from 'koffi';
import { allottedDevices } from './allotted-gpus.ts';
import type { ClaimHolder } from './claim-holder.ts';
import { gpuClaims, type Claim } from './gpu-claim.ts';
import { importSlot } from './import-slot.ts';
import {
  machineGpus,
  triedInOrder,
  type RankOnMachine,
  type MachineGpu,
} from './machine-gpus.ts';
import { mappedLibrary, readWord, writeWord } from './own-memory.ts';
import { vulkanDevices, type VulkanDevices } from './vulkan-devices.ts';

const LIBRARY = 'dawn.node';
const LOADER = 'libvulkan.so.1';
const HOOKED = 'vkGetInstanceProcAddr';
const ENUMERATE = 'vkEnumeratePhysicalDevices';
/** VkResult */
const SUCCESS = 0;
const INCOMPLETE = 5;
const INITIALIZATION_FAILED = -3;

/** A GPU that another process has claimed. */
export interface TakenGpu {
  readonly id: string;
  readonly name: string;
  readonly holder: ClaimHolder;
}

type Enumerate = (instance: number, count: number, devices: number) => number;

/** The functions and addresses of this process that koffi provides. */
interface Native {
  readonly devices: VulkanDevices;
  readonly claim: (id: string) => Claim;
  readonly copy: (to: number, from: number, bytes: number) => void;
  readonly addressOf: (buffer: Buffer) => number;
  /** The dynamic linker's own. */
  readonly dlsym: (library: number, name: string) => number;
  /** The address of our `dlsym`. */
  readonly ours: number;
}

/**
 * The view in use; Dawn keeps the functions that it has got once, so these look it up.
 */
let current: GpuView | undefined;
let bound: Promise<Native> | undefined;

export class GpuView {
  readonly #position: RankOnMachine;
  readonly #native: Native;
  readonly #restore: () => void;
  #gpus: readonly MachineGpu[] = [];
  #chosen: MachineGpu | undefined;
  /** Holders by the GPU's id. */
  readonly #holders = new Map<string, ClaimHolder>();
  #giveBack: (() => void) | undefined;
  #failure: string | undefined;

  private constructor(position: RankOnMachine, native: Native, restore: () => void) {
    this.#position = position;
    this.#native = native;
    this.#restore = restore;
  }

  /**
   * Takes effect until `close`, for instances that Dawn creates in between. Dawn and
   * Vulkan's loader must be loaded.
   * @returns the view, or in words why ranks of this machine cannot each have their own
   * GPU
   */
  static async open(position: RankOnMachine): Promise<GpuView | string> {
    if (process.platform !== 'linux')
      return `Gradwire can tell GPUs apart only on Linux, not on ${process.platform}`;
    const koffi = await import('koffi').catch(() => undefined);
    if (koffi === undefined) return 'the package "koffi" is not installed';
    try {
      const native = await (bound ??= bind(koffi));
      const restore = intercept(native);
      if (typeof restore === 'string') return restore;
      current = new GpuView(position, native, restore);
      return current;
    } catch (error) {
      bound = undefined;
      return (error as Error).message.split('\n')[0]!;
    }
  }

  /** Restores Dawn's own functions for instances that are created later. */
  close(): void {
    this.#restore();
  }

  /**
   * The GPUs over which ranks of this machine are distributed; none if there is only
   * software.
   */
  get gpus(): readonly MachineGpu[] {
    return this.#gpus;
  }

  /** The only GPU that Dawn sees; undefined if it sees all of them, or none. */
  get chosen(): MachineGpu | undefined {
    return this.#chosen;
  }

  /** Gives up the claim to the chosen GPU, if the rank has made one. */
  giveBack(): void {
    this.#giveBack?.();
    this.#giveBack = undefined;
  }

  /** All GPUs and who has them, if none is left for this rank. */
  get taken(): readonly TakenGpu[] | undefined {
    if (this.#gpus.length === 0 || this.#chosen !== undefined) return undefined;
    return this.#gpus.map(({ id, name }) => {
      return { id, name, holder: this.#holders.get(id) ?? {} };
    });
  }

  /** Reason that the devices could not be read, in which case Dawn sees none. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Lists the devices that the rank may see, as vkEnumeratePhysicalDevices does. */
  readonly enumerate: Enumerate = (instance, count, devices) => {
    const { addressOf, copy } = this.#native;
    try {
      const handles = this.#visibleOf(instance);
      const most = handles.length / 8;
      const number = Buffer.alloc(4);
      copy(addressOf(number), count, 4);
      const given = devices === 0 ? most : Math.min(most, number.readUInt32LE());
      if (devices !== 0 && given > 0) copy(devices, addressOf(handles), 8 * given);
      number.writeUInt32LE(given);
      copy(count, addressOf(number), 4);
      return given < most ? INCOMPLETE : SUCCESS;
    } catch (error) {
      // An error must not pass through Dawn's frames.
      this.#failure = (error as Error).message;
      return INITIALIZATION_FAILED;
    }
  };

  /** Handles of 8 bytes each. */
  #visibleOf(instance: number): Buffer {
    const all = allottedDevices(this.#native.devices.of(instance));
    const gpus = machineGpus(all, this.#position.ranks);
    // Dawn creates a second instance, with its own software driver if it has one.
    if (this.#gpus.length === 0 && gpus.length > 0) {
      this.#gpus = gpus;
      this.#chosen = this.#choose();
    }
    const visible =
      this.#gpus.length === 0 ? all : gpus.filter((gpu) => gpu.id === this.#chosen?.id);
    const handles = Buffer.alloc(8 * visible.length);
    for (const [i, { handle }] of visible.entries()) {
      handles.writeBigUInt64LE(BigInt(handle), 8 * i);
    }
    return handles;
  }

  #choose(): MachineGpu | undefined {
    const { claim } = this.#native;
    const { ranks, share } = this.#position;
    const tried = triedInOrder(this.#gpus, this.#position);
    // Too few for the ranks: the caller refuses it, and the GPU stays unclaimed.
    if (!share && ranks > this.#gpus.length) return tried[0];
    const free = tried.find(({ id }) => {
      const answer = claim(id);
      if (answer.kind === 'held') this.#holders.set(id, answer.holder);
      else this.#giveBack = answer.giveBack;
      return answer.kind === 'claimed';
    });
    // The first rank that uses a shared GPU claims it against runs that do not share.
    return share ? tried[0] : free;
  }
}

async function bind(koffi: typeof Koffi): Promise<Native> {
  const libc = koffi.load(null);
  const vulkan = koffi.load(LOADER);
  const bases = new WeakMap<ArrayBufferLike, number>();
  const addressOf = (buffer: Buffer): number => {
    const base = bases.get(buffer.buffer) ?? Number(koffi.address(buffer.buffer));
    bases.set(buffer.buffer, base);
    return base + buffer.byteOffset;
  };
  const dlsym = libc.func(
    'uintptr_t dlsym(uintptr_t, const char *)',
  ) as Native['dlsym'];
  const getProc = vulkan.func(`uintptr_t ${HOOKED}(uintptr_t, const char *)`) as (
    instance: number,
    name: string,
  ) => number;
  const lookup = koffi.pointer(koffi.proto('uintptr_t', ['uintptr_t', 'const char *']));
  const enumeration = koffi.pointer(
    koffi.proto('int', ['uintptr_t', 'uintptr_t', 'uintptr_t']),
  );
  // Registered permanently, because Dawn keeps the functions that it has got.
  const enumerate = Number(
    koffi.register(
      (...[instance, count, devices]: Parameters<Enumerate>) =>
        current!.enumerate(Number(instance), Number(count), Number(devices)),
      enumeration,
    ),
  );
  const ourGetProc = Number(
    koffi.register((instance: number, name: string): number => {
      if (name === ENUMERATE) return enumerate;
      return name === HOOKED ? ourGetProc : getProc(instance, name);
    }, lookup),
  );
  const ours = Number(
    koffi.register(
      (library: number, name: string): number =>
        name === HOOKED ? ourGetProc : dlsym(library, name),
      lookup,
    ),
  );
  return {
    addressOf,
    dlsym,
    ours,
    devices: vulkanDevices(vulkan, addressOf),
    claim: gpuClaims(koffi, addressOf),
    copy: libc.func('memcpy', 'void', [
      ...['uintptr_t', 'uintptr_t', 'size_t'],
    ]) as Native['copy'],
  };
}

/**
 * Makes Dawn ask us; returns a function that undoes this, or in words why it is
 * impossible.
 */
function intercept({ dlsym, ours }: Native): (() => void) | string {
  const library = mappedLibrary(LIBRARY);
  if (library === undefined) return `${LIBRARY} is not loaded`;
  const offset = importSlot(library.file, 'dlsym');
  const slot = library.from + (offset ?? 0);
  if (offset === undefined || !library.isWritable(slot))
    return `this build of ${LIBRARY} links its functions in an unsupported way`;
  const before = readWord(slot);
  // The linker's function, or the library's own code that would look it up.
  const isExpected =
    before === dlsym(0, 'dlsym') || (before >= library.from && before < library.to);
  if (!isExpected) return `another library has already changed ${LIBRARY}`;
  writeWord(slot, ours);
  return () => {
    writeWord(slot, before);
  };
}
