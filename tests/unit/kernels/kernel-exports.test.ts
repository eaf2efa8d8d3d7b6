/** The table of exports against the module itself. What it makes of calls: typed-calls.ts. */
import { expect, it } from 'vitest';
import { MOST_ARGUMENTS } from '../../../src/agent/kernels/wasm/job-board.ts';
import {
  EXPORTS,
  instantiate,
  TASKS,
} from '../../../src/agent/kernels/wasm/kernel-exports.ts';
import { readKernelFile } from '../../../src/agent/kernels/wasm/load.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';

const module = new WebAssembly.Module(readKernelFile());
const exports = instantiate(module, new Arena().memory);

it('has every function of the module, and no other', () => {
  const functions = Object.entries(exports).filter(
    ([, value]) => typeof value === 'function',
  );
  expect(Object.keys(EXPORTS).sort()).toEqual(functions.map(([name]) => name).sort());
});

it.each(Object.entries(EXPORTS))('%s has as many arguments', (name, { kinds }) => {
  expect(exports[name as keyof typeof exports]).toHaveLength(kinds.length);
});

it.each(TASKS)(
  '%s, which has slices, fits the board and has elements to cut',
  (task) => {
    const kinds: readonly string[] = EXPORTS[task].kinds;
    expect(kinds.length).toBeLessThanOrEqual(MOST_ARGUMENTS);
    expect(kinds.filter((kind) => kind === 'n')).toHaveLength(1);
  },
);
