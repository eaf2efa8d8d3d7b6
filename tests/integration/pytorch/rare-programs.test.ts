/** PyTorch programs that do what few do: real ranks under `gradwire exec`. */
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { joined } from './programs.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const program = path.join(import.meta.dirname, 'rare_programs.py');

/** The words of the two ranks, whether their run fails or not. */
async function said(
  name: string,
  settings: readonly string[] = [],
): Promise<readonly string[]> {
  const args = ['exec', '--json', '--ranks', '2', ...settings];
  args.push('--', pytorch!, program, name);
  const command = home.start(args);
  await command.finished;
  return ofType(command.records, 'log')
    .filter(({ text }) => text.startsWith('said '))
    .map(({ text }) => text.slice(5));
}

describe.skipIf(pytorch === undefined)('a program', () => {
  it.each([
    ['kept', 'does not clear gradients', '1.000000 1.000000 1.000000 1.000000'],
    ['checkpointed', 'computes activations again', '5 steps'],
  ])('%s: it %s', async (name, _, text) => {
    expect(await said(name)).toEqual(Array(2).fill(expect.stringMatching(text)));
  });

  it('that crashes once all of it has run has completed its run, which says so', async () => {
    const args = [
      'exec',
      '--json',
      '--ranks',
      '2',
      '--',
      pytorch!,
      program,
      'crashing',
    ];
    const command = home.start(args);
    succeeded(await command.finished);
    const told = ofType(command.records, 'notice').filter(
      ({ code }) => code === 'PROGRAM_CRASHED_LATE',
    );
    expect(told.map(({ message }) => message).toSorted()).toEqual(
      [0, 1].map((rank) => expect.stringMatching(`rank ${rank} .* by SIGABRT`)),
    );
  });

  it('is clipped once all of its gradient is there', async () => {
    const limit = ['--set', 'optimizer={clipNorm: 1e-6, clipAt: rank}'];
    expect(await said('clipped', limit)).toEqual(['clipped', 'clipped']);
  });

  it('is compared with what it applies', async () => {
    const compares = ['--set', 'compareEvery=1', '--', pytorch!, joined, '6'];
    const command = home.start(['exec', '--json', '--ranks', '2', ...compares]);
    succeeded(await command.finished);
    const all = ofType(command.records, 'comparison');
    expect(all).toHaveLength(6);
    for (const { cosine, error } of all) {
      expect(cosine).toBeCloseTo(1, 5);
      expect(error).toBeLessThan(1e-5);
    }
  });

  it.each([
    ['late', 'unfreezes a parameter after DDP was made', /^MODEL_CHANGED: .*0\.weight/],
    ['checkpointed-static', 'computes them again with a static graph', '5 steps'],
    ['uneven', 'ends on one rank before the other', 'joined'],
    [
      'uneven-divisor',
      'divides by those that go on',
      /^MODEL_UNSUPPORTED: .*_world_size/,
    ],
    ['static-pair', 'has two static graphs', /^MODEL_UNSUPPORTED: .*static_graph/],
    ['evaluated', 'evaluates between steps', '2 steps, then GRADIENT_NOT_AVERAGED'],
    ['half', 'has parameters in float16', '6.55e-04'],
    ['saved', 'saves its whole model', 'gradwire is not in it'],
    ['thawed', 'thaws a layer', /^MODEL_CHANGED: 0\.weight, 0\.bias: frozen/],
    ['remade', 'makes DDP again', /^1: gradwire: an optimiser has made a step/],
  ])('%s: it %s', { tags: 'soak' }, async (name, _, text) => {
    const found = await said(name);
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(found.map(() => expect.stringMatching(text)));
  });
});
