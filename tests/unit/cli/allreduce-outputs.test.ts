/** Outputs of `gradwire allreduce` that are refused before any rank starts. */
import { Command } from 'commander';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { resolveHome } from '../../../src/main/home/home.ts';
import { addAllreduceCommand } from '../../../src/cli/commands/allreduce.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-allreduce-'));
  // The engine would refuse them as they are no floats.
  for (const rank of [0, 1]) writeFileSync(at(`in${rank}.f32`), 'one');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

const at = (name: string): string => path.join(directory, name);

async function refusal(out: string): Promise<unknown> {
  const program = new Command();
  addAllreduceCommand(program);
  const files = ['--in', at('in{rank}.f32'), '--out', at(out)];
  const words = ['allreduce', '--ranks', '2', ...files];
  return await program
    .parseAsync(words, { from: 'user' })
    .catch((cause: unknown) => cause);
}

test('its inputs', async () => {
  expect(
    await refusal('../' + path.basename(directory) + '/in{rank}.f32'),
  ).toMatchObject({
    code: 'OUTPUT_IS_INPUT',
    message: `the output would overwrite ${at('in0.f32')}`,
  });
});

test('another rank’s input by another name', async () => {
  writeFileSync(at('out0.f32'), '');
  linkSync(at('in0.f32'), at('out1.f32'));
  expect(await refusal('out{rank}.f32')).toMatchObject({
    code: 'OUTPUT_IS_INPUT',
    place: at('out1.f32'),
  });
});

test('files of the home', async () => {
  mkdirSync(at('home'));
  vi.stubEnv('GRADWIRE_HOME', at('home'));
  const { database } = resolveHome();
  writeFileSync(database, 'runs');
  linkSync(database, at('out1.f32'));
  expect(await refusal('out{rank}.f32')).toMatchObject({ code: 'OUTPUT_IS_INPUT' });
  expect(readFileSync(database, 'utf8')).toBe('runs');
});
