/** Residuals and methods' state in the checkpoint of a program, and where they go from there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';

const script = path.join(import.meta.dirname, 'resumed_training.py');
const topk = ['--method', 'topk', '--set', 'exchange.ratio=0.02'];

describe.skipIf(pytorch === undefined)(
  'a program that keeps its own checkpoint',
  () => {
    const home = new GradwireHome();
    const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-resumed-'));

    afterAll(async () => {
      await home[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Texts of the ranks that begin with a word, and codes of notices. */
    async function run(
      ranks: number,
      options: readonly string[],
      word: string,
      ...args: readonly string[]
    ) {
      const command = home.start([
        ...['exec', '--json', '--ranks', String(ranks), ...options, '--'],
        ...[pytorch!, script, folder, ...args],
      ]);
      succeeded(await command.finished);
      const texts = ofType(command.records, 'log').map(({ text }) => text);
      const notices = ofType(command.records, 'notice').map(({ code }) => code);
      return { texts: texts.filter((text) => text.startsWith(word)), notices };
    }

    test('owes as much to any other number of ranks', { tags: 'soak' }, async () => {
      await run(2, topk, 'weights', '0', '6');
      await expectOwed(1);
    });

    test('goes on with the same bits', { tags: 'soak' }, async () => {
      await run(2, topk, 'weights', '0', '6');
      const resumed = await run(2, topk, 'weights', '6', '10');
      const whole = await run(2, topk, 'weights', '0', '10');
      expect(whole.texts).toHaveLength(2);
      expect(resumed.texts).toEqual(whole.texts);
      await expectOwed(3);
    });

    async function expectOwed(ranks: number): Promise<void> {
      const { texts } = await run(ranks, [], 'apart', '0', '0', 'owed');
      expect(texts).toHaveLength(ranks);
      for (const text of texts) {
        const [, apart, most] = /^apart (\S+) of (\S+)$/.exec(text)!;
        expect(Number(apart)).toBeLessThan(1e-5);
        expect(Number(most)).toBeGreaterThan(1e-4);
      }
    }

    test(
      'has the method’s state in it, which another method does without',
      { tags: 'soak' },
      async () => {
        const powersgd = ['--method', 'powersgd'];
        const whole = await run(2, powersgd, 'weights', '0', '10');
        await run(2, powersgd, 'weights', '0', '6');
        const resumed = await run(2, powersgd, 'weights', '6', '10');
        expect(resumed).toEqual({ texts: whole.texts, notices: whole.notices });
        const other = await run(
          2,
          ['--method', 'powersgd', '--set', 'exchange.rank=1'],
          'weights',
          '6',
          '10',
        );
        expect(other.notices).toContain('METHOD_STATE_DROPPED');
      },
    );
  },
);
