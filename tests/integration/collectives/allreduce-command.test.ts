/**
 * `gradwire allreduce`: real processes and real files. Ranks are processes of their own
 * throughout; most of the commands that start them share one.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { collectiveCases } from './collective-cases.ts';
import { hierarchicalSent, sparseHierarchicalSent } from './node-cases.ts';
import { floats, integers, sameBits, sumOf } from './run-collective.ts';
import { TopSumOracle } from './top-sum-oracle.ts';
import { vectorFolder } from './vector-folder.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const { folder, inputs, at, put, result, allreduce } = vectorFolder(home.directory);

interface Report {
  readonly algorithm: string;
  readonly ranks: number;
  readonly n: number;
  readonly ms: number;
  readonly wireSent: readonly number[];
  readonly wireReceived: readonly number[];
  readonly switchedToDense: boolean;
  readonly nnzReduced: number;
  readonly quantize?: unknown;
  readonly delta?: number;
}

async function reduce(ranks: number, ...more: string[]): Promise<Report> {
  const args = allreduce(ranks, ...more, '--json');
  const { code, stdout, stderr } = await commands.run(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\{.*\}\n$/);
  return JSON.parse(stdout) as Report;
}

const total = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0);

const some = [
  ...['ring', 'ssar-recursive-doubling', 'dsar-split-allgather'],
  ...['parameter-server, dense, 1 server', 'parameter-server, sparse, 2 servers'],
];
const all = Object.keys(collectiveCases);

/** Every algorithm with every P: `allreduce.test.ts`. */
const worlds = effort({
  quick: [
    { ranks: 1, ids: ['ssar-recursive-doubling'] },
    { ranks: 3, ids: [some[0]!, some[2]!, some[4]!] },
  ],
  soak: [1, 2, 3, 4].map((ranks) => ({ ranks, ids: ranks === 3 ? all : some })),
});

describe.each(worlds)('P = $ranks', ({ ranks, ids }) => {
  test.each(ids)('%s gives every rank the sum', async (id) => {
    const density = collectiveCases[id]!.kind === 'dense' ? 1 : 0.03;
    const vectors = Array.from({ length: ranks }, (_, rank) =>
      integers(rank, 5000, density),
    );
    put(vectors);
    const { collective = id, servers } = collectiveCases[id]!;
    const more = servers === undefined ? [] : ['--servers', String(servers(ranks))];
    const report = await reduce(ranks, '--algorithm', collective, ...more);
    const expected = sumOf(vectors);
    for (let rank = 0; rank < ranks; rank++) expect(result(rank)).toEqual(expected);
    const bytes = collectiveCases[id]!.sent(vectors);
    expect(report).toMatchObject({
      algorithm: collective,
      ranks,
      n: 5000,
      nnzReduced: expected.filter((value) => value !== 0).length,
      switchedToDense: id === 'dsar-split-allgather' && ranks > 1,
    });
    // Several ranks cannot send messages to each other in less than 1 µs.
    expect(report.ms).toBeGreaterThan(ranks > 1 ? 1e-3 : 0);
    // The collective's own bytes and its frames' headers, nothing of the handshake.
    for (const [rank, sent] of report.wireSent.entries()) {
      expect(sent).toBeGreaterThanOrEqual(bytes[rank]!);
      expect(sent).toBeLessThan(bytes[rank]! + 1000);
    }
    expect(total(report.wireSent)).toBe(total(report.wireReceived));
    expect(ranks > 1 || total(report.wireSent) === 0).toBe(true);
  });
});

test('what is not finite is reduced as it is, and said', async () => {
  put([Float32Array.of(1, NaN, Infinity, 2), Float32Array.of(1, 2, 3, 4)]);
  const args = allreduce(2, '--algorithm', 'ring', '--json');
  const { code, stdout, stderr } = await commands.run(args);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(
      /^gradwire: VECTOR_NOT_FINITE: 2 elements are not finite, first element 1 \(NaN\) \(.*in0\.f32\).*\n$/,
    ) as string,
  });
  const notFinite = [{ file: at(inputs, 0), count: 2, index: 1, value: 'NaN' }];
  expect(JSON.parse(stdout)).toMatchObject({ notFinite });
  expect([...result(1)]).toEqual([2, NaN, Infinity, 6]);
});

test('sums within the given nodes, then between them', { tags: 'soak' }, async () => {
  const vectors = Array.from({ length: 3 }, (_, rank) => integers(rank, 6000, 0.03));
  put(vectors);
  const places = [5, 2, 5];
  const sent = {
    hierarchical: hierarchicalSent(vectors, places),
    'ssar-hierarchical': sparseHierarchicalSent(vectors, places),
  };
  for (const [id, bytes] of Object.entries(sent)) {
    const report = await reduce(3, '--algorithm', id, '--places', places.join(','));
    expect(report.algorithm).toBe(id);
    for (const rank of [0, 1, 2]) expect(result(rank)).toEqual(sumOf(vectors));
    for (const [rank, wire] of report.wireSent.entries()) {
      expect(wire).toBeGreaterThanOrEqual(bytes[rank]!);
      expect(wire).toBeLessThan(bytes[rank]! + 1000);
    }
  }
});

test('the same bits on all ranks and in two runs', { tags: 'soak' }, async () => {
  put(Array.from({ length: 3 }, (_, rank) => floats(rank, 4001, 0.1)));
  const ids = effort({
    quick: ['ssar-split-allgather'],
    soak: ['ssar-split-allgather', 'rabenseifner'],
  });
  for (const id of ids) {
    await reduce(3, '--algorithm', id);
    const first = result(0);
    await reduce(3, '--algorithm', id);
    for (const rank of [0, 1, 2]) expect(sameBits(result(rank), first)).toBe(true);
  }
});

const operations: readonly [string, number[], string[]][] = [
  ['max', [1, 3, 0, 0, 5], ['sparse-allgather', 'auto']],
  ['min', [-2, 3, 0, 0, 4], ['ring']],
  ['prod', [-2, 3, 0, 0, 20], ['dsar-split-allgather']],
];

test.each(effort({ quick: operations.slice(0, 1), soak: operations }))(
  '%s: zeros are absent, not values, for dense and sparse alike',
  async (op, expected, quick) => {
    put([Float32Array.of(1, 0, 0, -0, 4), Float32Array.of(-2, 3, 0, 0, 5)]);
    const soak = ['ring', 'sparse-allgather', 'dsar-split-allgather', 'auto'];
    for (const id of effort({ quick, soak })) {
      const report = await reduce(2, '--algorithm', id, '--op', op);
      expect([...result(0)]).toEqual(expected);
      expect([...result(1)]).toEqual(expected);
      expect(report.nnzReduced).toBe(3);
    }
  },
);

test('auto sends few entries sparse and many dense, and reports its choice', async () => {
  put([integers(0, 300_000, 0.001), integers(1, 300_000, 0.001)]);
  const few = await reduce(2);
  expect(collectiveCases[few.algorithm]!.kind).toBe('sparse');
  expect(total(few.wireSent)).toBeLessThan(20_000);
  put([integers(0, 300_000), integers(1, 300_000)]);
  const many = await reduce(2);
  expect(collectiveCases[many.algorithm]!.kind).toBe('dense');
});

test('ok-topk gives the k largest entries of the sum', async () => {
  const vectors = [1, 2, 3].map((rank) => integers(rank, 20_000, 0.02));
  put(vectors);
  const report = await reduce(3, '--algorithm', 'ok-topk');
  const expected = new TopSumOracle().next(vectors);
  for (const rank of [0, 1, 2]) expect(result(rank)).toEqual(expected);
  const nnz = expected.filter((value) => value !== 0).length;
  expect(report).toMatchObject({ nnzReduced: nnz, switchedToDense: false });
  // About 400 of 1,200.
  expect(nnz).toBeGreaterThan(300);
  expect(nnz).toBeLessThan(500);
});

test.each([
  ['--op', 'max'],
  ['--dtype', 'f64'],
])('ok-topk refuses %s %s', async (...option) => {
  put([Float32Array.of(1, 2), Float32Array.of(3, 4)]);
  const { code, stderr } = await commands.run(
    allreduce(2, '--algorithm', 'ok-topk', ...option),
  );
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^gradwire: COLLECTIVE_MISFIT: ok-topk cannot compute a (max|sum) of f\d\d values/,
  );
});

test('vectors of nothing, of fewer elements than ranks, and tiny values', async () => {
  put([new Float32Array(0), new Float32Array(0)]);
  expect(await reduce(2, '--algorithm', 'ssar-split-allgather')).toMatchObject({
    n: 0,
  });
  expect(result(1)).toHaveLength(0);
  put([Float32Array.of(1e-9, 0), Float32Array.of(0, -1e-30), Float32Array.of(0, 0)]);
  await reduce(3, '--algorithm', 'ssar-split-allgather');
  expect(result(1)).toEqual(Float32Array.of(1e-9, -1e-30));
});

test('f64 files are summed in f64, by their name or by --dtype', async () => {
  const [long, odd] = [2 ** 40 + 1 / 3, 2 ** 53 - 1];
  const soak = ['ring', 'ssar-split-allgather', 'auto'];
  const cases = [
    ['f64', effort({ quick: ['ssar-split-allgather'], soak })],
    ['bin', effort({ quick: ['auto'], soak })],
  ] as const;
  for (const [name, algorithms] of cases) {
    const pattern = (side: string): string =>
      path.join(folder, `${side}{rank}.${name}`);
    writeFileSync(at(pattern('in'), 0), Float64Array.of(long, 0, -1e300));
    writeFileSync(at(pattern('in'), 1), Float64Array.of(long, 0, odd));
    const files = ['--in', pattern('in'), '--out', pattern('out')];
    for (const algorithm of algorithms) {
      const report = await reduce(
        2,
        ...files,
        ...['--algorithm', algorithm],
        ...(name === 'bin' ? ['--dtype', 'f64'] : []),
      );
      expect(report).toMatchObject({ dtype: 'f64', n: 3, nnzReduced: 2 });
      const bytes = Uint8Array.from(readFileSync(at(pattern('out'), 1)));
      expect([...new Float64Array(bytes.buffer)]).toEqual([2 * long, 0, -1e300]);
    }
  }
});

test('--quantize sends few bits, the same result to all, by seed', async () => {
  const vectors = Array.from({ length: 3 }, (_, rank) => integers(rank, 12_000));
  put(vectors);
  // Of three ranks, each of which sends 2·2/3 of the vector.
  const exact = 2 * 2 * 12_000 * 4;
  const quantize = ['--quantize', 'bits=4,bucket=1024'];
  const report = await reduce(
    3,
    ...quantize,
    '--algorithm',
    'scatter-reduce-allgather',
  );
  expect(report.quantize).toEqual({ bits: 4, bucket: 1024, scale: 'max' });
  // 4 bits and a scale of 4 bytes in 1024 instead of 32 bits; framing aside.
  expect(total(report.wireSent) / exact).toBeLessThan(0.13);
  const first = result(0);
  for (const rank of [1, 2]) expect(sameBits(result(rank), first)).toBe(true);
  const sum = sumOf(vectors);
  expect(first.every((value, index) => Math.abs(value - sum[index]!) < 120)).toBe(true);
  await reduce(3, ...quantize, '--algorithm', 'scatter-reduce-allgather');
  expect(sameBits(result(0), first)).toBe(true);
  const { algorithm } = await reduce(3, ...quantize, '--seed', '2');
  expect(algorithm).toBe('scatter-reduce-allgather');
  expect(sameBits(result(0), first)).toBe(false);
  const sparse = Array.from({ length: 3 }, (_, rank) => integers(rank, 12_000, 0.01));
  put(sparse);
  const { algorithm: chosen } = await reduce(3, ...quantize);
  expect(chosen).toBe('dsar-split-allgather');
});

test(
  '--quantize format=e4m3 sends a byte and a scale for 32, the same result to all',
  { tags: 'soak' },
  async () => {
    const vectors = Array.from({ length: 3 }, (_, rank) => integers(rank, 12_000));
    put(vectors);
    const quantize = ['--quantize', 'format=e4m3'];
    const report = await reduce(3, ...quantize);
    expect(report).toMatchObject({
      algorithm: 'scatter-reduce-allgather',
      quantize: { format: 'e4m3' },
    });
    const bytes = 3 * 4 * (4000 + 128);
    expect(total(report.wireSent) / bytes).toBeGreaterThan(1);
    expect(total(report.wireSent) / bytes).toBeLessThan(1.02);
    const first = result(0);
    for (const rank of [1, 2]) expect(sameBits(result(rank), first)).toBe(true);
    // Two contributions of at most 100 are off by less than 8, their sum of 300 by less than 32.
    const sum = sumOf(vectors);
    expect(first.every((value, index) => Math.abs(value - sum[index]!) < 48)).toBe(
      true,
    );
    await reduce(3, ...quantize, '--seed', '2');
    expect(sameBits(result(0), first)).toBe(false);
  },
);

test('--delta turns streams dense earlier, with the same sums', async () => {
  const vectors = Array.from({ length: 3 }, (_, rank) => integers(rank, 3000, 0.1));
  put(vectors);
  const algorithm = ['--algorithm', 'ssar-recursive-doubling'];
  const usual = await reduce(3, ...algorithm);
  const sum = result(0);
  const early = await reduce(3, ...algorithm, '--delta', '0.15');
  expect([usual.switchedToDense, early.switchedToDense]).toEqual([false, true]);
  expect([usual.delta, early.delta]).toEqual([undefined, 0.15]);
  expect(total(early.wireSent)).toBeGreaterThan(total(usual.wireSent));
  for (const rank of [0, 1, 2]) expect(sameBits(result(rank), sum)).toBe(true);
  const { delta } = await reduce(3, ...algorithm, '--delta', 'auto');
  expect(delta).toBeGreaterThan(0);
  expect(delta).toBeLessThan(0.5);
});

test(
  'servers: a vector goes as what is shorter, and one rank bears the load',
  { tags: 'soak' },
  async () => {
    for (const [density, pairs] of [
      [1, false],
      [0.01, true],
    ] as const) {
      const vectors = [0, 1, 2].map((rank) => integers(rank, 6000, density));
      put(vectors);
      const seen = [];
      for (const servers of [1, 3]) {
        const more = ['--algorithm', 'parameter-server', '--servers', String(servers)];
        const report = await reduce(3, ...more);
        expect(report).toMatchObject({ algorithm: 'parameter-server', servers });
        expect(result(2)).toEqual(sumOf(vectors));
        seen.push(report.wireSent);
      }
      const [one, all] = seen as [readonly number[], readonly number[]];
      expect(total(one) < 4 * 6000).toBe(pairs);
      // The sum to both others, beside one vector of each; then all ranks alike.
      expect(one[0]! / one[1]!).toBeGreaterThan(1.9);
      expect(all[0]! / all[1]!).toBeLessThan(1.1);
    }
  },
);

test('without --json: a line and a table', async () => {
  put([integers(0, 100), integers(1, 100)]);
  const { stdout, code } = await home.run(
    allreduce(2, '--algorithm', 'parameter-server'),
  );
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^parameter-server with 1 server, sum over 2 ranks: 100 elements, \d+ non-zero in the result, in /,
  );
  expect(stdout.trimEnd().split('\n')).toHaveLength(4);
});

describe('processes', () => {
  const ranksOf = () => home.processes('gradwire worker allreduce');
  /** Large enough that the ranks are at work for a while. */
  const start = async () => {
    put(Array.from({ length: 3 }, (_, rank) => new Float32Array(6_000_000).fill(rank)));
    const running = home.start(allreduce(3, '--algorithm', 'ring'));
    const ranks = await until(ranksOf, (found) => found.length === 3, 'three ranks');
    return { running, ranks };
  };

  test('a rank that is killed ends all, by name', async () => {
    const { running, ranks } = await start();
    const victim = ranks.find(({ title }) => title.endsWith('allreduce 1'))!;
    process.kill(victim.pid, 'SIGKILL');
    const { code, stderr } = await running.finished;
    expect(stderr).toMatch(
      /^gradwire: WORKER_DIED: the process of rank 1 was killed by SIGKILL.*\n$/,
    );
    expect(code).toBe(1);
    expect(ranksOf()).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('out'))).toEqual([]);
  });

  test('ranks end with their command, and no secret is among their arguments', async () => {
    const { running, ranks } = await start();
    for (const { title } of ranks)
      expect(title).toMatch(/^gradwire worker allreduce \d$/);
    running.child.kill('SIGKILL');
    await running.finished;
    await until(ranksOf, (found) => found.length === 0, 'the ranks to end');
  });
});
