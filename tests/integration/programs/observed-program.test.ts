/** Programs that are only observed: what they do is recorded, and what joining would gain is told. */
import { expect, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { succeeded } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';
import { NOT_FINITE, program, programsOfFile } from './programs-of-file.ts';

const { home, exec, nothingIsLeft } = programsOfFile();

test('a program that is observed communicates by itself, and learns what joining would gain', async () => {
  const command = exec('--observe', '--ranks', '2', ...program('20', 'observe'));
  succeeded(await command.finished);
  expect((await command.record('tensors')).tensors.map(({ name }) => name)).toEqual([
    ...['first', 'empty', 'last'],
  ]);
  const { isMeasured, offered, own } = await command.record('forecast');
  expect(isMeasured).toBe(false);
  expect(own.payloadBytes).toBe(4004);
  expect(offered.filter(({ chosen }) => chosen).length).toBeGreaterThan(10);
  // Only what `auto` may take: others change what is exchanged.
  expect(offered.map(({ collective }) => collective)).not.toContain('ok-topk');
  // Its optimiser keeps its own momentum.
  expect(offered.map(({ method }) => method)).not.toContain('dgc');
  const judged = await home().run(['runs', 'verdict', 'last']);
  expect(judged.stdout).toMatch(
    /^(Joined with|Do not compress here: with the best of)/m,
  );
  const iterations = ofType(command.records, 'iteration');
  expect(iterations).toHaveLength(40);
  expect(iterations[0]).toMatchObject({
    phases: { data: 1, forward: 2, backward: 3, wait: 0.5, apply: 1, other: 0.5 },
    overlapped: 0.25,
    loss: 0.25,
    metric: 0.5,
    collective: 'own',
  });
  // Nobody has counted its bytes at the sockets: they are absent, not 0.
  expect(iterations[0]!.bytes).toEqual({ dense: 4004, payload: 4004 });
  const { stdout } = await home().run([
    ...['runs', 'export', 'last', '--format', 'json'],
  ]);
  const stored = JSON.parse(stdout) as { iterations: unknown[] };
  expect(stored.iterations).toContainEqual(iterations[0]);
  const shown = await home().run(['runs', 'show', 'last']);
  expect(shown.stdout).toMatch(/^wire bytes sent +–$/m);
  const replayed = await home().run([
    ...['runs', 'what-if', 'last', 'method=topk', 'ratio=0.1', '--ranks', '4'],
    ...['--bandwidth', '1 Gbit/s', '--json'],
  ]);
  expect(JSON.parse(replayed.stdout)).toMatchObject({
    ranks: [2, 4],
    payloadBytes: [4004, 8 * 100],
  });
  const lossless = iterations.filter(({ loss }) => loss === undefined);
  expect(lossless.map(({ iteration }) => iteration)).toEqual([3, 3]);
  const notices = ofType(command.records, 'notice').filter(
    ({ code }) => code === 'MEASURE_NOT_FINITE',
  );
  expect(notices.map(({ message }) => message)).toEqual([NOT_FINITE, NOT_FINITE]);
  const done = await command.record('done');
  expect(done).toMatchObject({ reason: 'completed', iterations: 20 });
  expect(done).not.toHaveProperty('weights');
});

test(
  'of a program without DDP no more is told than its optimiser shows',
  { tags: 'soak' },
  async () => {
    const command = exec(
      ...['--observe', '--ranks', '1'],
      ...program('5', 'observe the optimiser'),
    );
    succeeded(await command.finished);
    const [first] = ofType(command.records, 'iteration');
    expect(first!.phases).toMatchObject({ apply: 1, other: 7 });
    expect(first!.phases).not.toHaveProperty('forward');
  },
);

test('a program that is observed no more goes on, and its run says so', async () => {
  const command = exec(
    '--observe',
    '--ranks',
    '2',
    ...program('20', 'observe for a while'),
  );
  succeeded(await command.finished);
  expect(await command.record('done')).toMatchObject({ iterations: 5 });
  const notices = ofType(command.records, 'notice').filter(
    ({ code }) => code === 'PROGRAM_UNSEEN',
  );
  expect(notices.map(({ rank }) => rank).toSorted()).toEqual([0, 1]);
  expect(notices[0]!.message).toBe(
    `the program goes on, but is observed no more after 5 steps: ValueError('\\x1b[31mno moment')`,
  );
});

test(
  'a program that is only observed is ended by a signal',
  { tags: 'soak' },
  async () => {
    const command = exec('--observe', '--ranks', '2', ...program('1000000', 'observe'));
    await command.record('iteration', ({ iteration }) => iteration >= 20);
    command.child.kill('SIGINT');
    expect((await command.finished).code).toBe(130);
    expect(await command.record('done')).toMatchObject({ reason: 'stopped' });
    await nothingIsLeft();
  },
);

const compressing: readonly [string[], string][] = [
  [['--method', 'topk'], 'exchange.method'],
  [['--switch', '5:method=topk'], 'switch'],
];
test.each(effort({ quick: compressing.slice(0, 1), soak: compressing }))(
  'what is only observed has nothing to compress: %j',
  async (options, place) => {
    const command = exec('--observe', ...options, '--', 'true');
    const { code, stderr } = await command.finished;
    expect(code).toBe(2);
    expect(stderr).toContain(`PROGRAM_OBSERVED: the program is only observed`);
    expect(stderr).toContain(`(${place})`);
  },
);
