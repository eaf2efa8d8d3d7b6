/**
 * Training on WebGPU against training on wasm: the same steps, in a process of their own
 * each, as a worker does them. On a machine without a GPU Dawn runs on SwiftShader, the
 * CPU driver that comes with Chromium.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  canRunWebGpu,
  hasGpu,
  saySkipped,
  swiftShader,
  webGpuEnvironment,
} from '../harness/webgpu.ts';
import type { TrainerSteps } from './trainer-steps.ts';

if (!canRunWebGpu) saySkipped('the trainer on WebGPU');

/** A source, or in the kit for a GPU a bundle. */
const script = path.join(
  import.meta.dirname,
  `trainer-steps${path.extname(import.meta.filename)}`,
);

async function run(backend: string, env: NodeJS.ProcessEnv): Promise<TrainerSteps> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, backend], {
    env: { ...process.env, ...env },
    timeout: 50_000,
    maxBuffer: 2 ** 24,
  });
  return JSON.parse(stdout) as TrainerSteps;
}

/** ‖a − b‖ ⁄ ‖b‖. */
function relativeDistance(a: readonly number[], b: readonly number[]): number {
  expect(a.length).toBe(b.length);
  const norm = (values: readonly number[]) => Math.hypot(...values);
  return norm(a.map((value, i) => value - b[i]!)) / norm(b);
}

describe.skipIf(!canRunWebGpu)('training on webgpu', () => {
  let webgpu: TrainerSteps;
  let wasm: TrainerSteps;
  beforeAll(async () => {
    webgpu = await run('webgpu', webGpuEnvironment);
    wasm = await run('wasm', {});
  }, 110_000);

  test('each ran where it should', () => {
    expect([webgpu.backend, wasm.backend]).toEqual(['webgpu', 'wasm']);
  });

  test('losses and gradients agree to 1e-4 relative, step by step', () => {
    for (const [step, loss] of wasm.losses.entries()) {
      expect(Math.abs(webgpu.losses[step]! / loss - 1)).toBeLessThan(1e-4);
      expect(
        relativeDistance(webgpu.gradients[step]!, wasm.gradients[step]!),
        `gradient of step ${step}`,
      ).toBeLessThan(1e-4);
    }
    expect(webgpu.metrics).toEqual(wasm.metrics);
    expect(wasm.losses.length).toBe(4);
  });

  test('weights after the steps and the evaluation agree', () => {
    expect(relativeDistance(webgpu.weights, wasm.weights)).toBeLessThan(1e-4);
    const [samples, loss, correct] = wasm.evaluation;
    const [samplesThere, lossThere, correctThere] = webgpu.evaluation;
    expect(Math.abs(lossThere / loss - 1)).toBeLessThan(1e-4);
    expect(samplesThere).toBe(samples);
    // A sample on the edge between two classes may fall either way.
    expect(Math.abs(correctThere! - correct!)).toBeLessThanOrEqual(1);
  });

  test('a gradient whose squares overflow is clipped to the norm', () => {
    const large = [3e38, -1e38, 2e30, 0, 7e37];
    const length = Math.hypot(...large);
    for (const { clipped } of [webgpu, wasm]) {
      for (const [i, value] of large.entries()) {
        expect(clipped[i]).toBeCloseTo((0.5 * value) / length, 6);
      }
    }
  });
});

describe.skipIf(hasGpu)('without a GPU', () => {
  test('webgpu is refused with the next step, auto takes wasm', async () => {
    const none = {
      VK_ICD_FILENAMES: '/nonexistent.json',
      VK_DRIVER_FILES: '/nonexistent.json',
    };
    await expect(run('webgpu', none)).rejects.toThrow(/BACKEND_UNAVAILABLE/);
    expect((await run('auto', none)).backend).toBe('wasm');
  });

  test.skipIf(!canRunWebGpu)('auto does not take a software adapter', async () => {
    expect((await run('auto', { VK_ICD_FILENAMES: swiftShader })).backend).toBe('wasm');
  });
});
