/**
 * Random processes killed at random moments: a worker, the supervisor, the command or the
 * app. GRADWIRE_SOAK_KILLS says how many; a kill that goes wrong is told with what it was.
 */
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { seed } from '../harness/effort.ts';
import { drawDoom, execute } from './doomed-run.ts';

const KILLS = Number(process.env['GRADWIRE_SOAK_KILLS'] ?? 1000);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

test(`${KILLS} kills leave nothing running, and no run without an end`, async () => {
  const met: Record<string, number> = {};
  const wrong: unknown[] = [];
  let next = 0;
  let kills = 0;
  const kill = async (): Promise<void> => {
    while (kills < KILLS) {
      const number = seed + next++;
      const doom = drawDoom(number);
      kills++;
      try {
        const victim = await execute(doom);
        // All had ended by themselves: that was no kill.
        if (victim === undefined) kills--;
        met[victim ?? 'nobody'] = (met[victim ?? 'nobody'] ?? 0) + 1;
      } catch (error) {
        wrong.push({ number, doom, error: String(error) });
        say(JSON.stringify(wrong.at(-1)));
      }
      if (next % 50 === 0) say(`${kills} kills: ${JSON.stringify(met)}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, kill));
  say(`${kills} kills: ${JSON.stringify(met)}`);
  expect(wrong).toEqual([]);
});
