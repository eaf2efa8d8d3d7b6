/** Backends as jax-js starts them: a GPU that was found may still give no device. */
import { expect, test } from 'vitest';
import { gpuUnavailable } from '../../../src/agent/kernels/webgpu/dawn.ts';
import type {
  Backend,
  BackendChoice,
} from '../../../src/agent/training/runtime/backend-choice.ts';
import { startBackend } from '../../../src/agent/training/runtime/start-backend.ts';
import { hasGpuFile } from '../../../src/agent/training/runtime/jax-runtime.ts';

/** Starts what a rank chose where only some backends are ready. */
async function start(
  wanted: Backend | 'auto',
  chosen: BackendChoice,
  ready: readonly Backend[],
) {
  const seen: string[] = [];
  const jax = {
    init: (backend: Backend) => Promise.resolve(ready.filter((one) => one === backend)),
    defaultDevice: (backend: Backend) => seen.push(`on ${backend}`),
  };
  const started = await startBackend(jax, {
    wanted,
    chosen,
    giveBack: () => seen.push('given back'),
    unavailable: gpuUnavailable,
  }).catch((error: unknown) => error);
  return { started, seen };
}

test('what was chosen is started', async () => {
  const gpu: BackendChoice = { backend: 'webgpu' };
  const onGpu = await start('auto', gpu, ['wasm', 'webgpu']);
  expect(onGpu).toEqual({ started: gpu, seen: ['on webgpu'] });
  const cpu: BackendChoice = { backend: 'wasm', why: 'the machine has no GPU' };
  const onCpu = await start('auto', cpu, ['wasm']);
  expect(onCpu).toEqual({ started: cpu, seen: ['on wasm'] });
});

test('auto computes on the CPU where the adapter gives no device, and says why', async () => {
  const { started, seen } = await start('auto', { backend: 'webgpu' }, ['wasm']);
  expect(started).toEqual({
    backend: 'wasm',
    why: 'the WebGPU adapter returned no device',
  });
  expect(seen).toEqual(['given back', 'on wasm']);
});

test('a GPU that is asked for and gives no device is an error', async () => {
  const { started, seen } = await start('webgpu', { backend: 'webgpu' }, ['wasm']);
  expect(started).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
  expect(seen).toEqual(['given back']);
});

test.each([
  [['null', 'nvidia0', 'nvidiactl'], true],
  [['nvidia3', 'nvidiactl', 'nvidia-uvm'], true],
  [['card0', 'renderD129'], true],
  [['nvidiactl', 'nvidia-uvm', 'nvidia-caps', 'card0', 'by-path'], false],
  [[], false],
])('device files %j show a GPU: %j', (names, expected) => {
  expect(hasGpuFile(names)).toBe(expected);
});
