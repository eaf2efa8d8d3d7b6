/** The share of a gradient's time on WebAssembly is spent outside of matrix products. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/** Medians over iterations, ms. */
export interface KernelTimes {
  /** Loss and gradient of a batch, as traced. */
  readonly compute: number;
  readonly products: number;
  readonly otherKernels: number;
}

const file = (name: string): string => path.join(import.meta.dirname, name);

/** Measured in its own process: tracing is for a whole process. */
export async function kernelTimes(model: string): Promise<KernelTimes> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', file('bundled-jax.ts'), file('kernel-times.ts'), model],
  ]);
  return JSON.parse(stdout) as KernelTimes;
}

/** A share from 0 to 1. */
export function outsideProducts({ compute, products }: KernelTimes): number {
  return 1 - products / compute;
}
