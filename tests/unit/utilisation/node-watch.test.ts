/** The watch over another machine: this one, with shells that play srun. */
import { describe, expect, test } from 'vitest';
import {
  NodeWatch,
  type NodeWatchOptions,
} from '../../../src/agent/supervisor/utilisation/node-watch.ts';
import { parseRecord } from '../../../src/shared/records/record-kinds.ts';
import type { UtilisationRecord } from '../../../src/shared/records/utilisation.ts';

/** A watch whose watcher a script starts; `"$@"` is the watcher's command. */
function watch(script: string, more: Partial<NodeWatchOptions>): NodeWatch {
  return new NodeWatch({
    run: 'r1',
    node: 'n7',
    begun: Date.now(),
    processes: new Map([[4, process.pid]]),
    iteration: () => 3,
    commandOf: () => ({ prefix: ['sh', '-c', script, 'sh'], reports: 'stdout' }),
    told: () => expect.unreachable(),
    failed: () => expect.unreachable(),
    ...more,
  });
}

test.skipIf(process.platform !== 'linux')(
  'tells of each second under the name of the node, until it is closed',
  async () => {
    const first = Promise.withResolvers<UtilisationRecord>();
    // What a node's scripts print before is none of its reports.
    const watcher = watch('echo greeting; exec 3>&1 1>&2; exec "$@"', {
      told: first.resolve,
    });
    const record = await first.promise;
    expect(parseRecord(structuredClone(record))).toEqual(record);
    expect(record).toMatchObject({ node: 'n7', from: 3, to: 4 });
    expect(record.processors!.count).toBeGreaterThan(0);
    expect(record.ranks).toEqual([
      {
        rank: 4,
        busy: expect.any(Number) as number,
        memory: expect.any(Number) as number,
      },
    ]);
    expect(record.ranks[0]!.memory).toBeGreaterThan(0);
    watcher.close();
    await watcher.gone;
  },
);

const marked = 'printf "gradwire-reports-begin\\n"';

describe('one that fails says why, once', () => {
  test.each([
    [
      'it never starts',
      'echo "srun: error: no node" >&2; exit 1',
      'srun: error: no node',
    ],
    ['it dies', 'kill -9 $$', 'SIGKILL ended it'],
    ['it says nothing', 'exit 3', 'it exited with code 3'],
    // A frame of one byte, which is a number.
    [
      'it reports what is no report',
      `${marked}; printf '\\1\\0\\0\\0\\1'; cat`,
      /report/,
    ],
  ])('%s', async (_, script, why) => {
    const failures: string[] = [];
    const failed = Promise.withResolvers<null>();
    const watcher = watch(script, {
      aloneMs: 50,
      failed: (words) => {
        failures.push(words);
        failed.resolve(null);
      },
    });
    await failed.promise;
    await watcher.gone;
    expect(failures).toEqual([
      typeof why === 'string' ? why : expect.stringMatching(why),
    ]);
    watcher.close();
  });

  test('and not where its ranks have ended with it', async () => {
    const failures: string[] = [];
    const failed = (words: string): unknown => failures.push(words);
    const ended = watch('exit 1', { aloneMs: 50, failed });
    await ended.gone;
    ended.close();
    // Another that begins later, and waits as long, has failed by when this one would have.
    const other = Promise.withResolvers<string>();
    const later = watch('exit 4', { aloneMs: 50, failed: other.resolve });
    expect(await other.promise).toBe('it exited with code 4');
    later.close();
    expect(failures).toEqual([]);
  });
});
