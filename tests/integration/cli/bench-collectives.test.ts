/** `gradwire bench collectives`: what it prints, and that it leaves nothing behind. */
import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseOptions } from '../../../bench/collectives/options.ts';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { namespaceStem } from '../../harness/abandoned-namespaces.ts';
import { namespacesMissing } from '../../harness/namespaces.ts';
import { until } from '../../harness/processes.ts';
import { refusalOf } from '../../harness/refusal.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

/** Where `ip` keeps their names. */
const NAMESPACES = '/run/netns';

interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Those that are measured on one machine: not what sums within nodes first. */
const taking = (kind: 'dense' | 'sparse'): readonly string[] =>
  [...collectives.values()]
    .filter(({ takes, forNodes }) => takes.includes(kind) && forNodes !== true)
    .map(idOf);
const idOf = ({ id }: { readonly id: string }): string => id;

/** All sections in one: ranks take a second to start, and most of them share a world. */
describe('all that is measured', () => {
  let lines: readonly Line[];
  let stderr: string;
  let left: readonly unknown[];

  beforeAll(async () => {
    const sections = ['--sweep', '--grid', '--sparse', '--exchange', '--memory'];
    const finished = await home.run([
      ...['bench', 'collectives', '--quick', '--json', '--peers', ...sections],
      ...['--sizes', '64K,8'],
    ]);
    ({ stderr } = finished);
    expect(stderr.replaceAll(/^no (openmpi|openmpi, sparse|gloo): .*\n/gm, '')).toBe(
      '',
    );
    expect(finished.code).toBe(0);
    // Ranks end with the world that they were started for.
    left = home.processes();
    lines = finished.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  });

  test('every collective on its kind of vectors, and which of them auto takes', () => {
    const measured = lines.filter(
      ({ type, section }) =>
        type === 'collective' && (section === 'sweep' || section === 'grid'),
    );
    for (const line of measured) {
      expect(line).toMatchObject({
        ranks: 2,
        links: 'loopback',
        n: Number(line['bytes']) / 4,
        transport: expect.stringMatching(/^(tcp|native)$/),
        wire: { payload: expect.any(Number), framing: expect.any(Number) },
        predicted: { ms: expect.any(Number), payload: expect.any(Number) },
        auto: expect.any(Boolean),
      });
      const { ms, p25, p75, algbw, busbw, bytes } = line as unknown as Record<
        string,
        number
      >;
      expect(p25).toBeGreaterThan(0);
      expect(ms).toBeGreaterThanOrEqual(p25!);
      expect(p75).toBeGreaterThanOrEqual(ms!);
      // In 10⁹ bytes a second; of two ranks busbw is algbw.
      expect(algbw! * ms! * 1e6).toBeCloseTo(bytes!, 3);
      expect(busbw).toBe(algbw);
    }
    const of = (section: string, bytes: number): readonly Line[] =>
      measured.filter((line) => line['section'] === section && line['bytes'] === bytes);
    for (const bytes of [8, 65_536]) {
      const dense = of('sweep', bytes);
      expect(dense.map((line) => line['collective']).sort()).toEqual(
        [...taking('dense')].sort(),
      );
      // Two ranks cannot exchange less than the vector.
      for (const line of dense)
        expect(line).toMatchObject({ wire: { payload: bytes } });
      expect(dense.filter((line) => line['auto'])).toHaveLength(1);
    }
    const sparse = of('grid', 65_536).filter((line) => line['payload'] === 'sparse');
    expect(sparse.map((line) => line['collective']).sort()).toEqual(
      [...taking('sparse')].sort(),
    );
    const whole = sparse.filter(({ collective }) => collective !== 'ok-topk');
    expect(new Set(whole.map((line) => line['entries'])).size).toBe(1);
    for (const line of sparse) expect(line['k']).toBe(164);
    for (const line of whole) {
      expect(line['entries']).toBeGreaterThan(164);
      expect(line['entries']).toBeLessThanOrEqual(328);
    }
    // About k of the sum's entries, more where several are equal; in no contest with the others.
    const [partial] = sparse.filter(({ collective }) => collective === 'ok-topk');
    expect(partial!['entries']).toBeLessThanOrEqual(Number(whole[0]!['entries']));
    expect(partial!['auto']).toBe(false);
    const choices = lines.filter(({ type }) => type === 'auto');
    for (const choice of choices) {
      expect(choice['ratio']).toBeGreaterThanOrEqual(1);
      expect(choice['best']).not.toBe('ok-topk');
    }
    expect(lines.filter(({ type }) => type === 'auto-summary')).toEqual([
      expect.objectContaining({
        cells: choices.length,
        within10: expect.any(Number) as number,
        medianPredictionError: expect.any(Number) as number,
      }),
    ]);
    expect(left).toEqual([]);
  });

  test("SparCML's data sets, the exchange of FNN-3 and the arena's peak", () => {
    const of = (type: string): readonly Line[] =>
      lines.filter((line) => line.type === type);
    const sections = new Set(of('collective').map((line) => line['section']));
    expect(sections).toEqual(new Set(['sweep', 'grid', 'sparse', 'density']));
    const [ring, ...others] = of('exchange');
    // 199,210 gradients of two ranks: 2·1/2 of the vector leaves each rank.
    expect(ring).toMatchObject({
      name: 'dense ring',
      collective: 'ring',
      payload: 796_840,
      wireSent: expect.any(Number),
      phases: { compress: expect.any(Number), reduce: expect.any(Number) },
    });
    expect(ring!['wireSent']).toBeGreaterThan(796_840);
    expect(ring!['wireSent']).toBeLessThan(1.01 * 796_840);
    const topk = others.find((line) => line['name'] === 'top-k 1 %')!;
    expect(topk['wireSent']).toBeLessThan(Number(ring!['wireSent']) / 10);
    expect(of('memory')).toHaveLength(2);
    for (const line of of('memory')) {
      expect(line['arenaBytes']).toBeGreaterThan(0);
      expect(line['arenaBytes']).toBeLessThanOrEqual(Number(line['limit']));
    }
  });

  test('a peer is measured where it is installed, and named where it is missing', () => {
    for (const peer of ['openmpi', 'gloo']) {
      const line = lines.find((one) => one['peer'] === peer);
      if (line === undefined) {
        expect(stderr).toMatch(new RegExp(`^no ${peer}: .*install Debian's`, 'm'));
        continue;
      }
      expect(line).toMatchObject({ type: 'peer', ranks: 2, bytes: 65_536 });
      const { auto, best } = line['ratio'] as { auto: number; best: number };
      expect(best).toBeGreaterThan(0);
      expect(auto).toBeGreaterThanOrEqual(best);
    }
  });
});

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [['--ranks', '1'], /"1".*2 to/],
  [['--sizes', '6'], /"6".*multiple of 4/],
  [['--transport', 'pigeon'], /pigeon.*auto, tcp/],
  [['--links', 'string'], /string.*loopback, 100mbit, 1gbit/],
];

test.each(wrong)('bench collectives %j: refused', (options, message) => {
  const { text, input } = refusalOf(() => parseOptions(options));
  expect(text).toMatch(/^BENCH_OPTION_INVALID: /);
  expect(text).toMatch(message);
  expect(input).toBe(true);
});

test('of the command that is one line and exit code 2', async () => {
  const [[options, message]] = wrong as [(typeof wrong)[number]];
  const { code, stderr } = await home.run(['bench', 'collectives', ...options]);
  expect(stderr).toMatch(/^gradwire: BENCH_OPTION_INVALID: .*\n$/);
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

test.skipIf(namespacesMissing() !== undefined)(
  'an interrupted benchmark takes its shaped links down',
  async () => {
    const command = home.start([
      ...['bench', 'collectives', '--sweep', '--links', '1gbit', '--ranks', '2'],
    ]);
    const [bench] = await until(
      () => home.processes('bench/collectives.ts'),
      (found) => found.length === 1,
      'the benchmark to start',
    );
    /** Links have the pid of the process that makes them in their names. */
    const namespaces = (): readonly string[] =>
      (existsSync(NAMESPACES) ? readdirSync(NAMESPACES) : []).filter((name) =>
        name.startsWith(`${namespaceStem(bench!.pid)}x`),
      );
    try {
      await until(namespaces, (names) => names.length === 2, 'namespaces to stand');
      expect(home.processes('bench/collectives.ts')).toEqual([bench]);
    } finally {
      command.child.kill('SIGINT');
    }
    expect(await command.finished).toMatchObject({ code: 130 });
    expect(namespaces()).toEqual([]);
    await until(
      () => home.processes(),
      (left) => left.length === 0,
      'ranks to end',
    );
  },
);

test('a benchmark ends when the command that started it is killed', async () => {
  const command = home.start(['bench', 'collectives', '--sweep', '--ranks', '2']);
  await until(
    () => home.processes('gradwire worker bench'),
    (found) => found.length > 0,
    'ranks to start',
  );
  command.child.kill('SIGKILL');
  await until(
    () => home.processes(),
    (left) => left.length === 0,
    'all to end',
  );
});
