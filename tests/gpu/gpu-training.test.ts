/**
 * Training with gradients that stay on the GPU of jax-js, in this process: the same bits as
 * by way of the host, and nothing of a gradient's size comes back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Arena } from '../../src/agent/memory/arena.ts';
import { resolvePlan } from '../../src/agent/plan/resolve-plan.ts';
import { createTrainer } from '../../src/agent/training/create-trainer.ts';
import {
  openJaxRuntime,
  type JaxRuntime,
} from '../../src/agent/training/runtime/jax-runtime.ts';
import type { Trainer } from '../../src/agent/training/trainer.ts';
import { EngineHere } from '../../src/agent/worker/engine/engine-client.ts';
import { stepsOf } from '../../src/agent/worker/steps/open-steps.ts';
import { TrainingLoop } from '../../src/agent/worker/training-loop.ts';
import { parseExperimentSpec } from '../../src/shared/spec/experiment-spec.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { expectSameBits } from './device-pair.ts';
import { DeviceTraffic } from './device-traffic.ts';
import { hasVulkan } from './vulkan.ts';

const ITERATIONS = 5;
/** Before all that is allocated once has been. */
const SETTLED = 2;

const spec = parseExperimentSpec({
  name: 'on the GPU',
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 8 },
  world: { ranks: 1 },
  exchange: { method: 'topk', ratio: 0.01 },
  iterations: ITERATIONS,
  evaluateEvery: 0,
  backend: 'webgpu',
});

describe.skipIf(!hasVulkan)('training on the GPU', () => {
  let runtime: JaxRuntime;
  let traffic: DeviceTraffic;
  beforeAll(async () => {
    runtime = await openJaxRuntime({ backend: 'webgpu', threads: 1 });
    traffic = new DeviceTraffic(runtime.jax.getWebGPUDevice());
  });
  afterAll(() => {
    runtime.release();
  });

  test('gradients that stay make the same weights', async () => {
    const here = await openTrainer();
    const there = await openTrainer();
    const host = new Float32Array(here.length);
    const onGpu = there.openGpuGradient()!;
    const back = new Float32Array(there.length);
    for (let iteration = 0; iteration < 3; iteration++) {
      here.loadBatch(iteration);
      there.loadBatch(iteration);
      const step = await here.computeGradient(host);
      expect(await there.computeGradient(onGpu)).toEqual(step);
      await onGpu.gpu.read(onGpu.vector, back);
      expectSameBits(back, host, `gradient ${iteration}`);
      await here.applyGradient(host, iteration);
      await there.applyGradient(onGpu, iteration);
    }
    await here.readWeights(host);
    await there.readWeights(back);
    expectSameBits(back, host, 'weights');
    onGpu[Symbol.dispose]();
    here.close();
    there.close();
  });

  test('in a run payloads come back, and memory does not grow', async () => {
    const trainer = await openTrainer();
    const gradient = trainer.openGpuGradient()!;
    const engine = new EngineHere(() => gradient);
    const { memory, address } = await engine.call('listen', { host: '127.0.0.1' });
    const plan = resolvePlan(spec.exchange);
    const connected = await engine.call('connect', {
      run: 'test',
      rank: 0,
      seed: 1,
      addresses: [address],
      secret: new Uint8Array(32),
      timeoutMs: 10_000,
      transport: 'tcp',
      threads: 1,
      tensors: trainer.tensors,
      plan,
      switches: [],
    });
    expect(connected.gradient).toBeUndefined();
    const seen: { payload: number; mapped: number; live: number; buffers: number }[] =
      [];
    const losses: number[] = [];
    const report = (record: RunRecord): void => {
      if (record.type !== 'iteration') return;
      losses.push(record.loss!);
      seen.push({
        payload: record.bytes.payload!,
        mapped: traffic.mapped,
        live: traffic.liveBytes,
        buffers: traffic.liveBuffers,
      });
    };
    const loop = new TrainingLoop({
      rank: 0,
      spec,
      trainer,
      engine,
      engineIsInline: true,
      arena: new Arena(memory),
      openSteps: stepsOf(spec, {
        arena: new Arena(memory),
        onDevice: gradient,
        onHost: undefined,
      }),
      fences: connected.fences,
      notices: connected.notices,
      report: (made) => {
        report(typeof made === 'function' ? made() : made);
      },
      room: () => undefined,
    });
    await loop.run(plan);
    await engine.close();
    gradient[Symbol.dispose]();
    trainer.close();

    // That they are right is for run-webgpu.test.ts to tell.
    expect(new Set(losses.map(Math.fround)).size).toBe(ITERATIONS);
    const settled = seen[SETTLED]!;
    for (const [index, { payload, mapped, live, buffers }] of seen.entries()) {
      if (index <= SETTLED) continue;
      // Loss and hit of each sample, and where a NaN was found. A gradient has 796,840 bytes.
      const measures = 8 * spec.workload.batchPerRank + 8;
      expect(mapped - seen[index - 1]!.mapped).toBe(payload + measures);
      expect({ live, buffers }).toEqual({
        live: settled.live,
        buffers: settled.buffers,
      });
    }
    expect(settled.payload).toBe(8 * Math.round(0.01 * trainer.length));
  });

  function openTrainer(): Promise<Trainer> {
    return createTrainer({
      ...spec.workload,
      rank: 0,
      world: 1,
      seed: 1,
      backend: 'webgpu',
      threads: 1,
      optimizer: spec.optimizer,
      iterations: ITERATIONS,
    });
  }
});
