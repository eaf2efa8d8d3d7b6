/** Real PyTorch under `gradwire exec`: ranks of any number, and switches through all kinds of methods. */
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { joined, twoHooks } from './programs.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const exec = (ranks: number, ...args: readonly string[]): RunningCommand =>
  home.start(['exec', '--json', '--ranks', String(ranks), ...args]);

/** Texts that the ranks have printed behind a word, by rank. */
async function printed(
  command: RunningCommand,
  word: string,
): Promise<readonly string[]> {
  succeeded(await command.finished);
  return ofType(command.records, 'log')
    .filter(({ text }) => text.startsWith(`${word} `))
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .map(({ text }) => text.slice(word.length + 1));
}

describe.skipIf(pytorch === undefined)('a DDP program', () => {
  const python = pytorch!;
  const STEPS = '30';

  it.each([1, 3, 4])(
    'that joins with %i ranks is consistent',
    { tags: 'soak' },
    async (ranks) => {
      const command = exec(ranks, '--', python, joined, '12');
      const digests = await printed(command, 'digest');
      expect(digests).toHaveLength(ranks);
      expect(new Set(digests).size).toBe(1);
      expect(await command.record('done')).toMatchObject({
        iterations: 12,
        consistent: true,
      });
      expect(await command.record('started')).toMatchObject({
        backend: 'torch',
        parameters: 64 * 48 + 48 + 48 * 48 + 48 + 48 * 4 + 4,
      });
      const losses = ofType(command.records, 'iteration').map(({ loss }) => loss);
      expect(losses.every((loss) => loss !== undefined && loss > 0)).toBe(true);
    },
  );

  it('says that a model can have no other communication hook, registered before or after', async () => {
    const command = exec(2, '--', python, twoHooks);
    const before = await printed(command, 'before');
    expect(before).toEqual(Array(2).fill(expect.stringMatching(/^HOOK_TAKEN: /)));
    const after =
      "HOOK_TAKEN: the model is attached, and has Gradwire's communication hook. ";
    expect(await printed(command, 'after')).toEqual(
      Array(2).fill(expect.stringContaining(after)),
    );
  });

  it('has averaged weights once it has said that training has ended', async () => {
    const a2sgd = ['--method', 'a2sgd', '--', python, joined, '12'];
    const ended = exec(2, ...a2sgd, 'end');
    const [first, second] = await printed(ended, 'digest');
    expect(second).toBe(first);
    expect(await ended.record('done')).toMatchObject({
      consistent: true,
      attached: true,
    });
  });

  it('has weights of its own before', { tags: 'soak' }, async () => {
    const a2sgd = ['--method', 'a2sgd', '--', python, joined, '12'];
    const [own, others] = await printed(exec(2, ...a2sgd), 'digest');
    expect(others).not.toBe(own);
  });

  const unused = path.join(import.meta.dirname, 'unused_parameters.py');

  const losesNothing = async (options: readonly string[]): Promise<void> => {
    const sparse = ['--method', 'topk', '--set', 'exchange.ratio=0.05'];
    const program = ['--', python, unused, ...options];
    const kept = await printed(exec(2, ...sparse, ...program), 'kept');
    expect(kept).toHaveLength(2 * 4);
    for (const line of kept) {
      const [name, lost, most] = line.split(' ');
      expect([name, Number(lost) < 1e-5], line).toEqual([name, true]);
      expect(Number(most), line).toBeGreaterThan(0);
    }
  };

  it('loses nothing of unused parameters', async () => {
    await losesNothing([]);
  });

  it.each([[['--views']], [['--keep']], [['--views', '--keep']]])(
    'loses nothing of them with %j',
    { tags: 'soak' },
    losesNothing,
  );

  it('keeps in a checkpoint what such parameters are still to get', async () => {
    const folder = path.join(home.directory, 'checkpoint');
    const sparse = ['--method', 'topk', '--set', 'exchange.ratio=0.05'];
    const program = ['--', python, unused, '--state', folder, '--steps'];
    // The last step leaves one of them out.
    await printed(exec(2, ...sparse, ...program, '8'), 'kept');
    const again = exec(1, ...sparse, ...program, '9');
    succeeded(await again.finished);
    const lines = ofType(again.records, 'log')
      .map(({ text }) => text)
      .filter((text) => /^(loaded|kept) /.test(text));
    expect(lines).toHaveLength(2 * 4);
    for (const line of lines) {
      expect(Number(line.split(' ')[2]), line).toBeLessThan(1e-5);
    }
  });

  it(
    'is switched through methods of every kind, and ends with equal replicas',
    { tags: 'soak' },
    async () => {
      const command = exec(
        2,
        ...['--switch', '5:method=topk,ratio=0.01', '--switch', '10:method=qsgd'],
        ...['--switch', '15:method=powersgd', '--switch', '20:method=a2sgd'],
        ...['--switch', '25:method=none'],
        ...['--', python, joined, STEPS],
      );
      const digests = await printed(command, 'digest');
      expect(digests[0]).toBe(digests[1]);
      const methods = ofType(command.records, 'switch').map(({ to }) => to.method);
      expect(methods).toEqual(['topk', 'qsgd', 'powersgd', 'a2sgd', 'none']);
      expect(await command.record('done')).toMatchObject({ consistent: true });
    },
  );
});
