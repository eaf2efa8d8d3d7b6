/** Which of a machine's GPUs a scheduler has allotted to this process. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allottedDevices } from '../../../src/agent/gpus/allotted-gpus.ts';
import type { VulkanDevice } from '../../../src/agent/gpus/machine-gpus.ts';

/** Buses in their order; device files are numbered otherwise. */
const BUSES = ['18', '2a', '3a', '5d', '9a', 'ab', 'ba', 'db'];
const MINORS = [4, 5, 6, 7, 0, 1, 2, 3];

let driver: string;
/** The driver's directory on a machine whose first GPU is another model than the others. */
let mixed: string;
beforeAll(() => {
  driver = driverWith(() => 'NVIDIA H100');
  mixed = driverWith((at) => (at === 0 ? 'NVIDIA T400' : 'NVIDIA H100'));
});
afterAll(() => {
  for (const folder of [driver, mixed]) rmSync(folder, { recursive: true });
});

function driverWith(model: (at: number) => string): string {
  const all = mkdtempSync(path.join(tmpdir(), 'gradwire-nvidia-'));
  for (const [at, bus] of BUSES.entries()) {
    const folder = path.join(all, `0000:${bus}:00.0`);
    mkdirSync(folder);
    writeFileSync(
      path.join(folder, 'information'),
      `Model: \t\t ${model(at)}\nGPU UUID: \t GPU-${bus}000000-0000\nDevice Minor: \t ${MINORS[at]}\n`,
    );
  }
  return all;
}

const gpu = (bus: string): VulkanDevice => ({
  handle: 1,
  name: 'GPU',
  kind: 'discrete',
  bus: `00000000:${bus.toUpperCase()}:00.0`,
});
const software: VulkanDevice = {
  handle: 2,
  name: 'llvmpipe',
  kind: 'software',
  bus: undefined,
};
const all = [...BUSES.map(gpu), software];

const kept = (
  environment: NodeJS.ProcessEnv,
  devices: readonly VulkanDevice[] = all,
  where = driver,
): readonly string[] =>
  allottedDevices(devices, environment, where).map(({ bus, name }) =>
    bus === undefined ? name : bus.slice(9, 11).toLowerCase(),
  );

describe('GPUs that the scheduler has allotted', () => {
  test('are all without a scheduler', () => {
    expect(kept({})).toEqual([...BUSES, 'llvmpipe']);
  });

  test.each<[string, NodeJS.ProcessEnv]>([
    ['the step', { SLURM_STEP_GPUS: '4,5', SLURM_JOB_GPUS: '0,1,4,5' }],
    ['the job', { SLURM_JOB_GPUS: '5,4', CUDA_VISIBLE_DEVICES: '0,1' }],
    ['CUDA, in a job', { SLURM_JOB_ID: '7', CUDA_VISIBLE_DEVICES: '4,5' }],
    ['CUDA, in the order of the bus', { CUDA_VISIBLE_DEVICES: '0,1' }],
    ['UUIDs', { CUDA_VISIBLE_DEVICES: 'GPU-18000000-0000,GPU-2a0' }],
  ])('are those of %s', (_, environment) => {
    expect(kept(environment)).toEqual(['18', '2a', 'llvmpipe']);
  });

  test('are all where only CUDA knows which of several models it counts first', () => {
    const first = { CUDA_VISIBLE_DEVICES: '0' };
    expect(kept(first, all, mixed)).toEqual([...BUSES, 'llvmpipe']);
    const byBus = { ...first, CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };
    expect(kept(byBus, all, mixed)).toEqual(['18', 'llvmpipe']);
    const exact = { CUDA_VISIBLE_DEVICES: 'GPU-2a' };
    expect(kept(exact, all, mixed)).toEqual(['2a', 'llvmpipe']);
    const inJob = { ...first, SLURM_JOB_ID: '7' };
    expect(kept(inJob, all, mixed)).toEqual(['9a', 'llvmpipe']);
  });

  test.each(['', 'NoDevFiles', '-1'])('are none with "%s"', (none) => {
    expect(kept({ CUDA_VISIBLE_DEVICES: none })).toEqual(['llvmpipe']);
  });

  test('are those in sight where the others are hidden', () => {
    const own = ['3a', '5d', '9a'].map(gpu);
    const environment = { SLURM_JOB_ID: '7', CUDA_VISIBLE_DEVICES: '0,1,2' };
    expect(kept(environment, own)).toEqual(['3a', '5d', '9a']);
    expect(kept({ SLURM_STEP_GPUS: '6,7,0' }, own)).toEqual(['3a', '5d', '9a']);
  });

  test('are refused if they cannot be told from those of other jobs', () => {
    const environment = { SLURM_STEP_GPUS: '4,5' };
    expect(() => kept(environment, all, '/nowhere')).toThrow(
      'this machine shows 8 GPUs, and which of them are allotted cannot be told: SLURM_STEP_GPUS=4,5',
    );
    expect(kept(environment, all.slice(0, 2), '/nowhere')).toEqual(['18', '2a']);
    expect(() => kept({ SLURM_STEP_GPUS: '4,9' })).toThrow('cannot be told');
  });
});
