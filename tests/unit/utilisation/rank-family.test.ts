/** Processor time of real processes: a shell as the rank, and a program that it starts and waits for. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { RankFamily } from '../../../src/agent/supervisor/utilisation/rank-family.ts';

/** Processor time that the program uses, and what all else here can use meanwhile. */
const USED_MS = 400;
const LITTLE_MS = 200;

/** Uses time once it hears of a line, says so, and ends with the next. */
const PROGRAM = `
process.stdin.once('data', () => {
  for (let used = 0; used < ${1000 * USED_MS}; ) {
    const { system, user } = process.cpuUsage();
    used = system + user;
  }
  console.log('used');
  process.stdin.once('data', () => process.exit());
});
console.log('waits');
`;

/** A rank whose program can be told to go on. */
function startRank() {
  const shell = spawn(
    'sh',
    ['-c', '"$NODE" -e "$PROGRAM"; echo ended; exec sleep 60'],
    {
      detached: true,
      env: { NODE: process.execPath, PROGRAM },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  return {
    family: new RankFamily(shell.pid!),
    hear: async (line: string) => {
      expect(await lines.next()).toMatchObject({ value: line });
    },
    goOn: () => shell.stdin.write('\n'),
    [Symbol.dispose]: () => process.kill(-shell.pid!, 'SIGKILL'),
  };
}

test.runIf(process.platform === 'linux')(
  'what a program used before the watch began never counts, alive or waited for',
  async () => {
    using rank = startRank();
    await rank.hear('waits');
    rank.goOn();
    await rank.hear('used');
    await rank.family.look();
    const found = rank.family.read()!.busy;
    expect(found).toBeLessThan(LITTLE_MS);
    rank.goOn();
    await rank.hear('ended');
    expect(rank.family.read()!.busy - found).toBeLessThan(LITTLE_MS);
  },
);

test.runIf(process.platform === 'linux')(
  'what a program uses during the watch counts once, alive or waited for',
  async () => {
    using rank = startRank();
    await rank.hear('waits');
    await rank.family.look();
    rank.goOn();
    await rank.hear('used');
    const { busy: used, memory } = rank.family.read()!;
    // Both are counted in ticks.
    expect(used).toBeGreaterThan(USED_MS - LITTLE_MS);
    rank.goOn();
    await rank.hear('ended');
    const ended = rank.family.read()!;
    expect(Math.abs(ended.busy - used)).toBeLessThan(LITTLE_MS);
    expect(ended.memory).toBeLessThan(memory);
  },
);
