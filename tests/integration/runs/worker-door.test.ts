/**
 * Workers and supervisors that send each other what neither would: the run ends with the
 * reason, and nothing else does.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { effort, seed } from '../../harness/effort.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';
import { launchScript, startScriptedNode, untilMoves } from './scripted-node.ts';
import { endOf, type SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
/** Records of a run that is well and goes on beside all others. */
let other: readonly JournalEntry[];

beforeAll(async () => {
  node = await startScriptedNode();
  other = await launchScript(node, 'good');
});
afterAll(() => node[Symbol.asyncDispose]());

const BAD = [
  [
    'report-nil',
    'REPORT_INVALID',
    /^report of rank 1: expected a section with keys, not null$/,
  ],
  ['report-number', 'REPORT_INVALID', /^report of rank 1: expected a section/],
  ['report-unknown', 'REPORT_INVALID', /^report of rank 1: type: /],
  ['report-exit', 'REPORT_INVALID', /^report of rank 1: type: /],
  [
    'report-checkpoint',
    'REPORT_INVALID',
    /^report of rank 1: iteration: expected a number, not "\.\.\/\.\."$/,
  ],
  ['report-address', 'REPORT_INVALID', /^report of rank 1: address: .* not null$/],
  [
    'report-records',
    'REPORT_INVALID',
    /^report of rank 1: records: expected a list, not 5$/,
  ],
  ['no-frame', 'FRAME_TOO_LARGE', /control frame of \d+ bytes/],
] as const;
const quickly = ['report-checkpoint', 'no-frame'];

for (const [name, code, message] of BAD) {
  const options = quickly.includes(name) ? {} : { tags: 'soak' };
  test(`a run with ${name} ends with ${code}; another goes on`, options, () =>
    endsAlone(name, code, message),
  );
}

async function endsAlone(name: string, code: string, message: RegExp): Promise<void> {
  const entries = await launchScript(node, name);
  expect(await endOf(entries)).toMatchObject({
    type: 'failed',
    error: { code, message: expect.stringMatching(message) as string, rank: 1 },
  });
  expect(node.workers(name)).toEqual([]);
  await untilMoves(other);
}

const RUNS = effort({ quick: 2, soak: 500 });

test(`${RUNS} runs with reports that are nearly real`, async () => {
  for (let index = 0; index < RUNS; index++) {
    const name = `mutant-${seed + index}`;
    const entries = await launchScript(node, name);
    const last = await endOf(entries);
    expect(last).toMatchObject({ type: 'failed' });
    expect(last).not.toMatchObject({ error: { code: 'INTERNAL' } });
  }
  await untilMoves(other);
});

/** A worker as built, and the test as its supervisor: its last words. */
async function lastReportOf(orders: readonly unknown[]): Promise<unknown> {
  const entry = path.join(import.meta.dirname, '../../../dist/agent/worker.js');
  const worker = spawn(process.execPath, [entry, 'r', '0'], {
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  });
  const decoder = new FrameDecoder();
  let last: unknown;
  (worker.stdio[3] as Readable).on('data', (chunk: Buffer) => {
    for (const report of decoder.push(chunk)) last = report;
  });
  worker.stdin!.on('error', () => undefined);
  for (const order of orders) worker.stdin!.write(encodeFrame(order));
  const code = await new Promise((resolve) => worker.once('close', resolve));
  return { code, last };
}

const configure = {
  ...{ type: 'configure', run: 'r', rank: 0, spec: sampleSpec({}), switches: [] },
  plan: { method: 'none', parameters: {}, collective: 'auto', bucketBytes: 4096 },
  secret: new Uint8Array(32),
  listen: '127.0.0.1',
  threads: 1,
  engine: 'inline',
};

const ORDERS: readonly [string, readonly unknown[], RegExp][] = [
  [
    'a run whose name is a path',
    [{ ...configure, run: '../..' }],
    /^order: run: a run’s id has/,
  ],
  ['nil', [null], /^order: expected a section with keys, not null$/],
  ['an unknown order', [{ type: 'toString' }], /^order: type: /],
  [
    'an address that is none',
    [{ type: 'begin', addresses: [7] }],
    /^order: addresses\.0: /,
  ],
  [
    'a short secret',
    [{ ...configure, secret: new Uint8Array(8) }],
    /^order: secret: expected 32 bytes, not 8 bytes$/,
  ],
];

test.each(effort({ quick: ORDERS.slice(0, 1), soak: ORDERS }))(
  'a worker that is told %s says so and ends',
  async (_, orders, message) => {
    expect(await lastReportOf(orders)).toEqual({
      code: 1,
      last: {
        type: 'failed',
        error: expect.objectContaining({
          code: 'ORDER_INVALID',
          message: expect.stringMatching(message) as string,
        }) as object,
      },
    });
  },
);
