/**
 * `gradwire plan` and `auto` in a run of the same spec on the same network: the same
 * collective for the same sizes, which are what the ranks then send.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommandHost } from '../../harness/command-host.ts';
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
let commands: CommandHost;

beforeAll(() => {
  home = new GradwireHome();
  commands = new CommandHost(home);
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
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

async function lines(
  runner: GradwireHome | CommandHost,
  ...args: readonly string[]
): Promise<readonly Line[]> {
  const { code, stdout, stderr } = await runner.run(args);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const N = 199_210;

/** As settings of a switch; the shape that `auto` tells, and the bytes of its payload. */
const EXCHANGES: readonly (readonly [string, string, number])[] = [
  // Of 20 entries, 4 bytes each.
  ['method=randomk,ratio=0.0001', 'N = 199,210, 80 bytes to sum, P = 4', 80],
  // 389 whole runs of 512 and one that is shorter, two entries each.
  ['method=topk,k=2,bucket=512', 'N = 199,210, k = 780, K = 3,1', 8 * 780],
  // Of the leader's entries the indices are broadcast; the values are summed.
  [
    'method=scalecom,ratio=0.01,selection=exact',
    'N = 199,210, 7,968 bytes to sum, P = 4',
    2 * 7968,
  ],
  // Biases and P, then Q: 410 + 2·(784 + 200 + 200) and 2·(200 + 200 + 10) numbers.
  [
    'method=powersgd,rank=2',
    'N = 199,210, 14,392 bytes to sum in 2 messages, P = 4',
    4 * (410 + 2 * 1184 + 2 * 410),
  ],
  ['method=a2sgd', 'N = 199,210, 8 bytes to sum, P = 4', 8],
  ['method=none', 'N = 199,210, P = 4', 4 * N],
];
/** Iterations that each of them has. */
const EACH = 2;

const inFlow = (settings: string): string => `{${settings.replace(/=/g, ': ')}}`;

type Exchange = (typeof EXCHANGES)[number];

/** One run: it begins with the first of them and is switched to the others, in turn. */
describe('a run that is switched from one to the next', () => {
  let ran: readonly Line[];
  beforeAll(async () => {
    const [[first], ...others] = EXCHANGES as [Exchange, ...Exchange[]];
    const settings = [
      `exchange=${inFlow(first)}`,
      `iterations=${EACH * EXCHANGES.length}`,
      'evaluateEvery=0',
    ];
    const switches = others.flatMap(([exchange], index) => [
      ...['--switch', `${EACH * (index + 1)}:${exchange}`],
    ]);
    ran = await lines(
      home,
      ...['run', 'digits-topk', '--json'],
      ...settings.flatMap((setting) => ['--set', setting]),
      ...switches,
    );
  });

  test.each(EXCHANGES.map((exchange, index) => [...exchange, index] as const))(
    '%s: plan and auto agree',
    async (exchange, shape, payload, index) => {
      const planned = await lines(
        commands,
        ...['plan', 'digits-topk', '--json', '--compute', '1'],
        ...['--set', `exchange=${inFlow(exchange)}`],
      );
      // Fastest first, as plan orders them.
      const [foreseen] = planned.filter(({ own }) => own === true);
      const chosen = ran.filter(({ code }) => code === 'COLLECTIVE_CHOSEN');
      expect(chosen).toHaveLength(EXCHANGES.length);
      const { message } = chosen[index]!;
      expect(message).toContain(`auto chose ${foreseen!.collective!}: `);
      expect(message).toContain(shape);
      expect(foreseen!.payloadBytes).toBe(payload);
      const exchanged = ran.filter(
        ({ type, iteration }) =>
          type === 'iteration' && Math.floor(iteration! / EACH) === index,
      );
      expect(exchanged).toHaveLength(4 * EACH);
      for (const { collective, bytes } of exchanged) {
        expect(collective).toBe(foreseen!.collective);
        expect(bytes!.payload).toBe(payload);
      }
    },
  );
});
