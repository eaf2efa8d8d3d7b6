/**
 * Output of a rank of which srun brings only two streams: a shell plays srun, as it connects them.
 */
import path from 'node:path';
import { expect, test } from 'vitest';
import { RankProcess } from '../../../src/agent/world/rank-process.ts';

const LINES = 50_000;

/** The output and the reports of a rank. */
async function outputOf(lines: number) {
  const printed = { stdout: '', stderr: '' };
  const events: { readonly type: string }[] = [];
  const command = {
    entry: path.join(import.meta.dirname, 'printing-rank.ts'),
    args: [],
    prefix: ['sh', '-c', 'exec 3>&1 1>&2; exec "$@"', 'sh'],
    reports: 'stdout',
  } as const;
  const rank = new RankProcess<object, { readonly type: string }>(
    0,
    command,
    (event) => events.push(event),
    {
      parse: (report) => report as { readonly type: string },
      printed: (stream, bytes) => {
        printed[stream] += bytes.toString();
      },
    },
  );
  rank.send({ lines });
  await rank.closed;
  return { printed, types: events.map(({ type }) => type) };
}

test('comes as what it was written to, between reports that stay whole', async () => {
  const { printed, types } = await outputOf(LINES);
  expect(types, printed.stderr).toEqual(['between', 'printed', 'exit']);
  expect(printed.stderr).toBe('by console.error\n');
  const lines = printed.stdout.split('\n');
  expect(lines.slice(0, 2)).toEqual(['by console.log', 'by a thread']);
  expect(new Set(lines.slice(2, -2))).toEqual(new Set(['x'.repeat(99)]));
  expect(lines.slice(2, -2)).toHaveLength(LINES);
  expect(lines.slice(-2)).toEqual(['the last line', '']);
});

test('of a rank that exits at once is not lost where its pipe has room', async () => {
  const { printed, types } = await outputOf(0);
  expect([types, printed.stdout]).toEqual([['exit'], 'the only line\n']);
});
