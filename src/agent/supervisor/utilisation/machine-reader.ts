/**
 * Reads what this machine has done so far: counters that only grow, and the memory in use. Linux says
 * all of it; elsewhere only the processors are known. What is not known is absent.
 */
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import {
  bytesOf,
  interfaceBytes,
  listedNumbers,
  processorTimes,
  type InterfaceBytes,
} from '../../../shared/machines/proc-texts.ts';
import {
  memoryLimit,
  processorQuota,
  type MemoryLimit,
  type ProcessorQuota,
} from './control-groups.ts';
import type { ReadText } from '../../memory/control-group-folders.ts';

/** Counters of a machine at one moment. */
export interface MachineReading {
  /** Milliseconds of processor time that were busy, and that the host gave to others. */
  readonly processors?:
    { readonly busy: number; readonly stolen?: number | undefined } | undefined;
  readonly memory?: { readonly total: number; readonly used: number } | undefined;
  /** Bytes over all interfaces. */
  readonly network?: (InterfaceBytes & { readonly loopback: number }) | undefined;
}

const LOOPBACK = 'lo';
const NETWORK = '/sys/class/net';

export class MachineReader {
  /** Processors that this process and those it starts may use: a fraction under a quota. */
  readonly processors: number;
  readonly #read: ReadText;
  readonly #quota: ProcessorQuota | undefined;
  readonly #allowed: ReadonlySet<number> | undefined;
  readonly #interfaces: ReadonlySet<string>;
  readonly #limit: MemoryLimit | undefined;

  /** @param root folder in place of `/` */
  constructor(root = '') {
    this.#read = (file) => textOf(root + file);
    const status = this.#read('/proc/self/status');
    const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status ?? '')?.[1];
    this.#allowed = list === undefined ? undefined : listedNumbers(list);
    const count = this.#allowed?.size ?? availableParallelism();
    const quota = processorQuota(this.#read);
    this.#quota = quota !== undefined && quota.processors < count ? quota : undefined;
    this.processors = this.#quota?.processors ?? count;
    this.#interfaces = outerInterfaces(root + NETWORK);
    const memory = this.#memoryOfMachine();
    this.#limit = memory && memoryLimit(this.#read, memory.total);
  }

  read(): MachineReading {
    return {
      processors: this.#processors(),
      memory: this.#memory(),
      network: this.#network(),
    };
  }

  #processors(): MachineReading['processors'] {
    const used = this.#quota?.used();
    if (used !== undefined) return { busy: used };
    const stat = this.#read('/proc/stat');
    if (stat !== undefined) return processorTimes(stat, this.#allowed);
    const times = cpus().map((processor) => processor.times);
    if (times.length === 0) return undefined;
    const busy = times.map(({ irq, nice, sys, user }) => irq + nice + sys + user);
    return { busy: busy.reduce((a, b) => a + b) };
  }

  #memory(): MachineReading['memory'] {
    const used = this.#limit?.used();
    if (used !== undefined) return { total: this.#limit!.bytes, used };
    return this.#memoryOfMachine();
  }

  #memoryOfMachine(): MachineReading['memory'] {
    const text = this.#read('/proc/meminfo');
    if (text === undefined) return undefined;
    const [total, available] = [
      bytesOf(text, 'MemTotal'),
      bytesOf(text, 'MemAvailable'),
    ];
    if (total === undefined || available === undefined) return undefined;
    return { total, used: Math.max(0, total - available) };
  }

  #network(): MachineReading['network'] {
    const text = this.#read('/proc/net/dev');
    if (text === undefined) return undefined;
    let [received, sent, loopback] = [0, 0, 0];
    for (const [name, bytes] of interfaceBytes(text)) {
      if (name === LOOPBACK) loopback += bytes.sent;
      else if (this.#interfaces.has(name)) {
        received += bytes.received;
        sent += bytes.sent;
      }
    }
    return { received, sent, loopback };
  }
}

/**
 * The interfaces whose bytes leave the machine, each byte once: those with a device, without what lies
 * over them, such as bonds, bridges and tunnels. A container may have none with a device; then all
 * that are part of no other.
 */
function outerInterfaces(folder: string): ReadonlySet<string> {
  try {
    const all = readdirSync(folder).filter((name) => name !== LOOPBACK);
    const devices = all.filter((name) => existsSync(`${folder}/${name}/device`));
    const outermost = all.filter((name) => !existsSync(`${folder}/${name}/master`));
    return new Set(devices.length > 0 ? devices : outermost);
  } catch {
    return new Set();
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
