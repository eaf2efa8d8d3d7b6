/**
 * Faults of the GPU while jax-js computes there: it says nothing of a command that
 * fails, and results are read as zeros.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DeviceFaults } from '../../src/agent/kernels/webgpu/device-faults.ts';
import { openGpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import { JaxStage } from '../../src/agent/training/jax-stage.ts';
import { JaxTrainer } from '../../src/agent/training/jax-trainer.ts';
import { isLayered } from '../../src/agent/training/models/layered.ts';
import { splitModel } from '../../src/agent/training/models/split-model.ts';
import { openWorkload } from '../../src/agent/training/open-workload.ts';
import {
  openJaxRuntime,
  type JaxRuntime,
} from '../../src/agent/training/runtime/jax-runtime.ts';
import type { StageLinks } from '../../src/agent/training/stage-links.ts';
import { StageTrainer } from '../../src/agent/training/stage-trainer.ts';
import type { Trainer, TrainerOptions } from '../../src/agent/training/trainer.ts';
import { hasVulkan } from './vulkan.ts';

const options: TrainerOptions = {
  model: 'fnn3',
  dataset: 'digits',
  batchPerRank: 8,
  rank: 0,
  world: 1,
  seed: 1,
  backend: 'webgpu',
  threads: 1,
  optimizer: { kind: 'sgd', lr: 0.05, momentum: 0.9, schedule: 'constant' },
  iterations: 10,
};

/** A buffer that no device creates. */
const TOO_LARGE: GPUBufferDescriptor = { size: 2 ** 50, usage: 8 };
const FAILED = /^internal: WebGPU: Buffer size/;

describe.skipIf(!hasVulkan)('a device of this process', () => {
  test('without memory is a coded error, that later ones do not replace', async () => {
    using gpu = await openGpuDevice();
    const vector = gpu.allocateVector(100);
    const error = new GPUOutOfMemoryError('no room');
    const event = new GPUUncapturedErrorEvent('uncapturederror', { error });
    gpu.device.dispatchEvent(event);
    gpu.device.createBuffer(TOO_LARGE);
    await expect(gpu.read(vector, new Float32Array(100))).rejects.toMatchObject({
      code: 'GPU_MEMORY',
    });
  });
});

describe.skipIf(!hasVulkan)('training', () => {
  let runtime: JaxRuntime;
  let device: GPUDevice;
  /** Whether the next commands come with one that fails. */
  let failing = false;

  beforeAll(async () => {
    runtime = await openJaxRuntime({ backend: 'webgpu', threads: 1 });
    device = runtime.jax.getWebGPUDevice();
    const create = device.createCommandEncoder.bind(device);
    device.createCommandEncoder = (descriptor) => {
      if (failing) device.createBuffer(TOO_LARGE);
      failing = false;
      return create(descriptor);
    };
  });
  afterAll(() => {
    runtime.release();
  });

  /** The runtime, without the faults of other tests. */
  function faultless(): JaxRuntime {
    const faults = new DeviceFaults(device, 'A GPU');
    return {
      ...runtime,
      watch: (results) => faults.watch(results),
      check: () => {
        faults.check();
      },
      release: () => undefined,
    };
  }

  async function openTrainer(): Promise<Trainer> {
    const workload = await openWorkload(options);
    const trainer = new JaxTrainer({ ...workload, runtime: faultless(), options });
    trainer.loadBatch(0);
    return trainer;
  }

  const CALLS: Readonly<Record<string, (trainer: Trainer) => Promise<unknown>>> = {
    computeGradient: (trainer) =>
      trainer.computeGradient(new Float32Array(trainer.length)),
    computeFullGradient: (trainer) =>
      trainer.computeFullGradient(new Float32Array(trainer.length)),
    applyGradient: (trainer) =>
      trainer.applyGradient(new Float32Array(trainer.length), 0),
    evaluate: (trainer) => trainer.evaluate(),
    readWeights: (trainer) => trainer.readWeights(new Float32Array(trainer.length)),
    readState: (trainer) => trainer.readState(new Float32Array(trainer.stateLength)),
  };

  test.each(Object.entries(CALLS))('%s fails with a command', async (_, call) => {
    const trainer = await openTrainer();
    failing = true;
    await expect(call(trainer)).rejects.toThrow(FAILED);
    trainer.close();
  });

  test('tells of no gradient as ready that is not', async () => {
    const trainer = await openTrainer();
    failing = true;
    let told = 0;
    const gradient = trainer.computeGradient(new Float32Array(trainer.length), () => {
      told++;
    });
    await expect(gradient).rejects.toThrow(FAILED);
    expect(told).toBe(0);
    trainer.close();
  });

  test('passes nothing on to the next stage after a command has failed', async () => {
    const own = faultless();
    const { model, ...workload } = await openWorkload(options);
    if (!isLayered(model)) throw new Error('expected layers');
    const stage = splitModel(model, ['layer1'])[0]!;
    const microBatches = 2;
    const samples = options.batchPerRank / microBatches;
    const { shard } = workload;
    const trainer = new StageTrainer({
      ...workload,
      runtime: own,
      model,
      options,
      microBatches,
      stage,
      computer: (weights) =>
        new JaxStage({
          runtime: own,
          model,
          stage,
          shard,
          weights,
          samples,
          microBatches,
        }),
    });
    let sent = 0;
    const links: Partial<StageLinks> = {
      begin: () => undefined,
      send: () => {
        sent++;
        return Promise.resolve();
      },
    };
    trainer.joinPipeline(links as StageLinks);
    trainer.loadBatch(0);
    failing = true;
    const gradient = trainer.computeGradient(new Float32Array(trainer.length));
    await expect(gradient).rejects.toThrow(FAILED);
    expect(sent).toBe(0);
    trainer.close();
  });

  test('says that the GPU is lost where it waits for it', async () => {
    const trainer = await openTrainer();
    const gradient = trainer.computeGradient(new Float32Array(trainer.length));
    setImmediate(() => {
      device.destroy();
    });
    await expect(gradient).rejects.toMatchObject({ code: 'GPU_LOST' });
    // The first of these tests' faults: the runtime has heard them all.
    expect(() => {
      runtime.check();
    }).toThrow(FAILED);
    trainer.close();
  });
});
