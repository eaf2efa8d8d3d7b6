/**
 * Caches compiled kernels of jax-js for later processes: all ranks and runs make the same
 * ones, which took a fifth of a rank's start. In our bundles the library asks `kernelCode`
 * before it generates a kernel (scripts/jax-kernel-cache.ts); from the sources it always
 * generates.
 *
 * A kernel is named by the hash by which jax-js itself tells kernels apart, by the build
 * of the library and by the version of Node that made it.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
// Not by name: the engine's entry has to load on a Node without it, to say that it is too old.
import nodeModule from 'node:module';
import path from 'node:path';
import { attempt, readChecked, writeChecked } from '../../bundle/checked-file.ts';

/** A module, and the data that the library needs to call it. */
export interface KernelCode {
  readonly bytes: Uint8Array;
  readonly [property: string]: unknown;
}

/** Files are of some 2 kB, a model has about 70: enough for many models and batches. */
const MOST_KERNELS = 4096;
/** Bytes before the properties: their length. */
const HEAD = 4;

export class KernelCache {
  readonly #directory: string;

  /** @param directory created if missing; no other user may be able to write to it */
  constructor(directory: string) {
    this.#directory = directory;
    attempt(() => {
      mkdirSync(directory, { recursive: true });
      if (readdirSync(directory).length > MOST_KERNELS) this.#clear();
    });
  }

  /** The kernel of that name, made if it is not known. */
  get(name: string, make: () => KernelCode): KernelCode {
    const file = path.join(this.#directory, name);
    const known = read(file);
    if (known !== undefined) return known;
    const made = make();
    write(file, made);
    return made;
  }

  #clear(): void {
    for (const name of readdirSync(this.#directory)) {
      rmSync(path.join(this.#directory, name), { force: true });
    }
  }
}

/**
 * Lets jax-js, in our bundles, find kernels beside the compiled code of this version of
 * Node, where that is kept (bundle/compile-cache.ts). To be called before the library is
 * loaded.
 */
export function keepKernels(): void {
  const directory = nodeModule.getCompileCacheDir();
  if (directory === undefined) return;
  let cache: KernelCache | undefined;
  const kernelCode = (
    build: string,
    name: string,
    make: () => KernelCode,
  ): KernelCode => {
    cache ??= new KernelCache(path.join(directory, `kernels-${build}`));
    return cache.get(name, make);
  };
  Object.assign(globalThis, { kernelCode });
}

function read(file: string): KernelCode | undefined {
  const content = readChecked(file);
  if (content === undefined || content.length < HEAD) return undefined;
  const start = HEAD + content.readUInt32LE(0);
  const properties = JSON.parse(content.toString('utf8', HEAD, start)) as object;
  return { ...properties, bytes: content.subarray(start) };
}

function write(file: string, { bytes, ...properties }: KernelCode): void {
  const json = Buffer.from(JSON.stringify(properties));
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(json.length);
  writeChecked(file, [head, json, bytes]);
}
