/**
 * Readings of the machine's GPUs, once a second, from one process of nvidia-smi that lasts as long as
 * it is asked. Where there is none, nothing is said.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { LineSplitter } from '../ranks/line-splitter.ts';

const QUERY = [
  '--query-gpu=pci.bus_id,name,utilization.gpu,memory.used,memory.total',
  '--format=csv,noheader,nounits',
  '-lms',
  '1000',
];
const MEBIBYTE = 2 ** 20;
/** Most lines that are read at once. */
const MOST_LINES = 1000;

/** A GPU at one moment. */
export interface GpuReading {
  /** PCI bus id. */
  readonly bus: string;
  readonly name: string;
  /** Share of the time in which something ran, 0…1. */
  readonly busy?: number | undefined;
  /** Bytes in use, and all. */
  readonly memory?: number | undefined;
  readonly total?: number | undefined;
}

/** Reads a line; undefined if it is none, such as an error's text. */
export function gpuReading(line: string): GpuReading | undefined {
  const [bus, name, busy, memory, total, ...more] = line.split(', ');
  if (total === undefined || more.length > 0 || !/^[\dA-F]+(:[\dA-F]+)+/i.test(bus!)) {
    return undefined;
  }
  // `[N/A]` where a GPU does not say it.
  const number = (text: string): number | undefined =>
    /^\d+$/.test(text) ? Number(text) : undefined;
  const bytes = (text: string): number | undefined => {
    const mebibytes = number(text);
    return mebibytes === undefined ? undefined : MEBIBYTE * mebibytes;
  };
  const percent = number(busy!);
  return {
    bus: bus!,
    name: name!,
    busy: percent === undefined ? undefined : Math.min(1, percent / 100),
    memory: bytes(memory!),
    total: bytes(total),
  };
}

export class GpuReadings {
  readonly #child: ChildProcess | undefined;

  /** @param told gets each reading of each GPU as it comes */
  constructor(told: (reading: GpuReading) => void, command = 'nvidia-smi') {
    const lines = new LineSplitter();
    this.#child = started(command);
    this.#child?.stdout?.on('data', (bytes: Buffer) => {
      for (const { text } of lines.split(bytes, MOST_LINES).lines) {
        const reading = gpuReading(text);
        if (reading !== undefined) told(reading);
      }
    });
  }

  /** Ends the process; it would also end by itself when nobody reads what it says. */
  close(): void {
    this.#child?.stdout?.removeAllListeners('data').destroy();
    this.#child?.kill();
  }
}

function started(command: string): ChildProcess | undefined {
  try {
    const child = spawn(command, QUERY, {
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    });
    // There is none.
    child.on('error', () => undefined);
    child.unref();
    return child;
  } catch {
    return undefined; // the system starts no further process
  }
}
