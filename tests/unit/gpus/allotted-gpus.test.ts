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
beforeAll(() => {
  driver = mkdtempSync(path.join(tmpdir(), 'gradwire-nvidia-'));
  for (const [at, bus] of BUSES.entries()) {
    const folder = path.join(driver, `0000:${bus}:00.0`);
    mkdirSync(folder);
    writeFileSync(
      path.join(folder, 'information'),
      `Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-${bus}000000-0000\nDevice Minor: \t ${MINORS[at]}\n`,
    );
  }
});
afterAll(() => {
  rmSync(driver, { recursive: true });
});

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
