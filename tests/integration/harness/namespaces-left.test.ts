/** Networks of a process are taken down, however it ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { namespacesMissing, RankNamespaces } from '../../harness/namespaces.ts';
import { until } from '../../harness/processes.ts';

const NAMED = '/run/netns';
const left = (names: readonly string[]): readonly string[] =>
  existsSync(NAMED) ? readdirSync(NAMED).filter((name) => names.includes(name)) : [];

/** A process group of its own, with its networks. */
async function maker() {
  const script = path.join(import.meta.dirname, 'network-maker.ts');
  const child = spawn(process.execPath, [script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
  const names = line.split(' ');
  expect(left(names)).toHaveLength(6);
  return { names, ended, group: -child.pid! };
}

describe.skipIf(namespacesMissing() !== undefined)('networks', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'are taken down although %s comes twice, for the whole process group',
    async (signal) => {
      const { ended, group, names } = await maker();
      process.kill(group, signal);
      await until(
        () => left(names).length,
        (count) => count < 6,
        'the first to be taken down',
      );
      if (left(names).length > 0) process.kill(group, signal);
      await ended;
      expect(left(names)).toEqual([]);
    },
  );

  test('of a process that was killed are taken down by the next', async () => {
    const { ended, group, names } = await maker();
    process.kill(group, 'SIGKILL');
    await ended;
    expect(left(names)).toHaveLength(6);
    using next = new RankNamespaces({ ranks: 1 });
    expect(left(names)).toEqual([]);
    expect(left(next.names)).toHaveLength(1);
  });
});
