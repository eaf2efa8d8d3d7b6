/**
 * A machine with several equal GPUs, in software: copies of Chromium's SwiftShader, each its
 * own Vulkan driver, and below the application a layer (equal-gpus.c) that has them look
 * like cards on the PCI bus and notes which of them a process opens.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasGpu, swiftShader } from './webgpu.ts';

const driver = path.join(path.dirname(swiftShader), 'libvk_swiftshader.so');

/** On a machine with a GPU the drivers there would name it too. */
export const canHaveEqualGpus =
  process.platform === 'linux' &&
  !hasGpu &&
  existsSync(driver) &&
  existsSync('/usr/bin/gcc');

export interface OpenedGpu {
  readonly pid: number;
  readonly bus: string;
}

export class EqualGpus implements Disposable {
  /** What processes need in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Its own: a GPU is claimed by its bus id, in front of all tests on this machine. */
  readonly #domain = randomBytes(4).toString('hex').toUpperCase();
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'gradwire-gpus-'));
  readonly #opened = path.join(this.#folder, 'opened');

  /** @param buses bus numbers of the GPUs in the order in which the drivers are named, `3b` */
  constructor(buses: readonly string[]) {
    const drivers = buses.map((_, i) => this.#driver(i));
    const layers = path.join(this.#folder, 'layers');
    mkdirSync(layers);
    const layer = path.join(layers, 'equal-gpus.so');
    const source = path.join(import.meta.dirname, 'equal-gpus.c');
    execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-Wall', '-o', layer, source]);
    const name = 'VK_LAYER_GRADWIRE_equal_gpus';
    this.#manifest(path.join(layers, 'layer.json'), {
      layer: {
        name,
        type: 'GLOBAL',
        library_path: layer,
        api_version: '1.1.0',
        implementation_version: '1',
        description: 'equal GPUs',
      },
    });
    this.environment = {
      VK_ICD_FILENAMES: drivers.join(':'),
      VK_LAYER_PATH: layers,
      VK_INSTANCE_LAYERS: name,
      GRADWIRE_TEST_BUSES: buses.join(','),
      GRADWIRE_TEST_DOMAIN: this.#domain,
      GRADWIRE_TEST_OPENED: this.#opened,
    };
  }

  /** Devices that were opened, as the layer saw it. */
  get opened(): readonly OpenedGpu[] {
    if (!existsSync(this.#opened)) return [];
    const lines = readFileSync(this.#opened, 'utf8').trim().split('\n');
    return lines.map((line) => {
      const [pid, bus] = line.split(' ');
      return { pid: Number(pid), bus: bus! };
    });
  }

  /** As records have it: of bus `3b`. */
  busId(bus: string): string {
    return `${this.#domain}:${bus.toUpperCase()}:00.0`;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }

  /** A driver of its own: the loader takes one file once. */
  #driver(i: number): string {
    const library = path.join(this.#folder, `driver-${i}.so`);
    copyFileSync(driver, library);
    const manifest = path.join(this.#folder, `driver-${i}.json`);
    this.#manifest(manifest, {
      ICD: { library_path: library, api_version: '1.1.0' },
    });
    return manifest;
  }

  #manifest(file: string, contents: object): void {
    const all = { file_format_version: '1.0.0', ...contents };
    writeFileSync(file, JSON.stringify(all));
  }
}
