/**
 * `gradwire plan` and `auto` in a run of the same spec on the same network: the same
 * collective for the same sizes, which are what the ranks then send.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';

interface Line {
  readonly type: string;
  readonly own?: boolean;
  readonly code?: string;
  readonly message?: string;
  readonly rank?: number;
  readonly iteration?: number;
  readonly collective?: string;
  readonly payloadBytes?: number;
  readonly bytes?: { readonly payload: number };
}

let home: GradwireHome;

beforeAll(() => {
  home = new GradwireHome();
  // 1 Gbit/s: some buckets are bound by latency, others by bandwidth.
  const profile = {
    version: 1,
    measuredAt: 0,
    transport: 'tcp',
    nodes: ['here', 'here', 'here', 'here'],
    pairs: [],
    loaded: [{ ranks: 4, alpha: 5e-5, beta: 8e-9 }],
    kernels: {
      add: 1e-10,
      merge: 4e-9,
      scatter: 2e-9,
      select: 0,
      quantize: 0,
      dequantize: 0,
    },
  };
  writeFileSync(path.join(home.directory, 'network.json'), JSON.stringify(profile));
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

async function lines(...args: readonly string[]): Promise<readonly Line[]> {
  const { code, stdout, stderr } = await home.run(args);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const N = 199_210;

test.each([
  // Of 20 entries, 4 bytes each.
  ['{method: randomk, ratio: 0.0001}', 'N = 199,210, 80 bytes to sum, P = 4', 80],
  // 389 whole runs of 512 and one that is shorter, two entries each.
  ['{method: topk, k: 2, bucket: 512}', 'N = 199,210, k = 780, K = 3,1', 8 * 780],
  // Of the leader's entries the indices are broadcast; the values are summed.
  [
    '{method: scalecom, ratio: 0.01, selection: exact}',
    'N = 199,210, 7,968 bytes to sum, P = 4',
    2 * 7968,
  ],
  // Biases and P, then Q: 410 + 2·(784 + 200 + 200) and 2·(200 + 200 + 10) numbers.
  [
    '{method: powersgd, rank: 2}',
    'N = 199,210, 14,392 bytes to sum in 2 messages, P = 4',
    4 * (410 + 2 * 1184 + 2 * 410),
  ],
  ['{method: a2sgd}', 'N = 199,210, 8 bytes to sum, P = 4', 8],
  ['{method: none}', 'N = 199,210, P = 4', 4 * N],
])('%s: plan and auto agree', async (exchange, shape, payload) => {
  const spec = ['digits-topk', '--set', `exchange=${exchange}`, '--json'];
  const planned = (await lines('plan', ...spec, '--compute', '1')).filter(
    ({ own }) => own === true,
  );
  // Fastest first, as plan orders them.
  const [foreseen] = planned;
  const ran = await lines(
    'run',
    ...spec,
    ...['iterations=2', 'evaluateEvery=0'].flatMap((setting) => ['--set', setting]),
  );
  const chosen = ran.filter(({ code }) => code === 'COLLECTIVE_CHOSEN');
  expect(chosen).toHaveLength(1);
  expect(chosen[0]!.message).toContain(`auto takes ${foreseen!.collective!}: `);
  expect(chosen[0]!.message).toContain(shape);
  expect(foreseen!.payloadBytes).toBe(payload);
  const exchanged = ran.filter(({ type }) => type === 'iteration');
  expect(exchanged).toHaveLength(8);
  for (const { collective, bytes } of exchanged) {
    expect(collective).toBe(foreseen!.collective);
    expect(bytes!.payload).toBe(payload);
  }
});
