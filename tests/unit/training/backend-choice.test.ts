/** What a rank computes on, by what is asked for and what its machine has. */
import { describe, expect, test } from 'vitest';
import { gpuUnavailable } from '../../../src/agent/kernels/webgpu/dawn.ts';
import {
  chooseBackend,
  type BackendQuestion,
} from '../../../src/agent/training/runtime/backend-choice.ts';
import { backendText } from '../../../src/shared/records/backend-text.ts';

const GPU = { name: 'NVIDIA H200', software: false, gpus: 1, whyOne: undefined };
const TWO = { ...GPU, gpus: 2 };
const SOFTWARE = { name: 'SwiftShader', software: true, gpus: 0, whyOne: undefined };
const TAKEN = {
  taken: ['00000000:3B:00.0', '00000000:5E:00.0'].map((id, i) => ({
    name: 'A100',
    id,
    holder: `process ${i}`,
  })),
};
const NONE = 'no WebGPU adapter was found';

const choose = (
  wanted: BackendQuestion['wanted'],
  found: BackendQuestion['found'],
  sharers: number,
) => chooseBackend({ wanted, found, sharers, unavailable: gpuUnavailable });

test.each([
  ['wasm', GPU, 1, { backend: 'wasm' }],
  ['auto', GPU, 1, { backend: 'webgpu' }],
  ['webgpu', GPU, 1, { backend: 'webgpu' }],
  ['auto', TWO, 2, { backend: 'webgpu' }],
  ['webgpu', TWO, 2, { backend: 'webgpu' }],
  ['wasm', TAKEN, 1, { backend: 'wasm' }],
  ['webgpu', SOFTWARE, 4, { backend: 'webgpu' }],
  ['auto', NONE, 4, { backend: 'wasm', why: NONE }],
] as const)('%s with %j for %i ranks', (wanted, found, sharers, choice) => {
  expect(choose(wanted, found, sharers)).toEqual(choice);
});

describe('two ranks of one machine with a GPU', () => {
  test('are refused it if it is requested', () => {
    expect(() => choose('webgpu', GPU, 2)).toThrow(
      expect.objectContaining({
        code: 'GPU_SHARED',
        kind: 'input',
        message: '2 ranks of one machine would share one GPU (NVIDIA H200)',
        next: expect.stringContaining('world.shareGpu: true') as string,
      }),
    );
  });

  test('compute on the CPU where auto decides, and say why', () => {
    const { backend, why } = choose('auto', GPU, 2);
    expect(backend).toBe('wasm');
    expect(why).toMatch(
      /^2 ranks .* \(NVIDIA H200\); set world\.shareGpu: true to let ranks share GPUs$/,
    );
  });
});

describe('more ranks than GPUs', () => {
  test('are refused, with how many there may be', () => {
    expect(() => choose('webgpu', TWO, 3)).toThrow(
      expect.objectContaining({
        code: 'GPU_SHARED',
        message: '3 ranks of one machine would share 2 GPUs (NVIDIA H200)',
        next: expect.stringMatching(/^Use at most 2 ranks .*shareGpu: true/) as string,
      }),
    );
  });

  test('compute on the CPU where auto decides', () => {
    const { backend, why } = choose('auto', TWO, 3);
    expect(backend).toBe('wasm');
    expect(why).toMatch(
      /^3 ranks .* 2 GPUs .*set world\.shareGpu: true to let ranks share GPUs$/,
    );
  });

  test('hear why they cannot be told apart', () => {
    const found = { ...GPU, whyOne: 'the package "koffi" is not installed' };
    expect(choose('auto', found, 2).why).toMatch(
      /cannot each have their own GPU \(the package/,
    );
  });
});

describe('GPUs that other processes are using', () => {
  test('are refused, by name, bus id and holder', () => {
    expect(() => choose('webgpu', TAKEN, 1)).toThrow(
      expect.objectContaining({
        code: 'GPU_SHARED',
        message:
          'other processes are using all 2 GPUs of this machine ' +
          '(A100, 00000000:3B:00.0: process 0; A100, 00000000:5E:00.0: process 1)',
      }),
    );
  });

  test('leave auto the CPU', () => {
    expect(choose('auto', TAKEN, 1)).toEqual({
      backend: 'wasm',
      why: expect.stringMatching(/^other processes are using all 2 GPUs/) as string,
    });
  });
});

test('without WebGPU it is an error to ask for it', () => {
  expect(() => choose('webgpu', NONE, 1)).toThrow(
    expect.objectContaining({ code: 'BACKEND_UNAVAILABLE', message: NONE }),
  );
});

test('records name what computes, or why it is the CPU', () => {
  const on = (device?: string) => ({ rank: 0, pid: 1, node: 'box', device });
  const text = (backend: string, devices: readonly string[], why?: string) =>
    backendText({ backend, why, processes: devices.map(on) });
  expect(text('webgpu', ['NVIDIA H200', 'NVIDIA H200'])).toBe('webgpu (NVIDIA H200)');
  expect(text('webgpu', ['A', 'B'])).toBe('webgpu (A, B)');
  expect(text('wasm', ['CPU (WebAssembly)'], NONE)).toBe(`wasm (${NONE})`);
  expect(text('wasm', ['CPU (WebAssembly)'])).toBe('wasm');
  const buses = ['00000000:3B:00.0', '00000000:5E:00.0', '00000000:3B:00.0'];
  const processes = buses.map((bus) => ({ ...on('NVIDIA H200'), bus }));
  expect(backendText({ backend: 'webgpu', processes })).toBe(
    'webgpu (2 × NVIDIA H200)',
  );
  // Of runs from before devices were recorded.
  expect(backendText({ backend: 'webgpu', processes: [on()] })).toBe('webgpu');
});
