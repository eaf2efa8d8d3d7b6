/** Real PyTorch under `gradwire exec`: ranks of any number, and switches through all kinds of methods. */
import { afterAll, describe, expect, it } from 'vitest';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { joined } from './programs.ts';

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
