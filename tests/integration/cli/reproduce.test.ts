/** `gradwire reproduce`: a figure by real runs, its files, and what interrupts or refuses it. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hasEnded } from '../../../src/shared/records/run-state.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { launchChromium } from '../../harness/browser.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { obstacles, watchErrors } from '../../harness/page.ts';
import { until } from '../../harness/processes.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** The cheapest figure: ten short runs of two ranks. */
const FIGURE = 'a2sgd-table-2';
const out = path.join(home.directory, 'results');

type Line = Readonly<Record<string, unknown>>;
const lines = (stdout: string): readonly Line[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

test('a figure is repeated, judged and written down', { tags: 'soak' }, async () => {
  const { stdout, stderr } = succeeded(
    await home.run(['reproduce', FIGURE, '--out', out, '--json']),
  );
  expect(stderr).toBe('');
  const [begin, ...rest] = lines(stdout);
  const result = rest.pop()!;
  expect(begin).toMatchObject({ type: 'figure', figure: FIGURE, runs: 10 });
  expect(rest).toHaveLength(10);
  expect(rest.at(-1)).toMatchObject({
    type: 'run',
    seed: 1,
    index: 10,
    of: 10,
  });
  // 64 bits, and 32 for each parameter, whatever the machine.
  const bits = Object.fromEntries(
    rest.map((run) => [run['case'], (run['values'] as { bits: number }).bits]),
  );
  expect(bits).toMatchObject({
    'a2sgd-fnn3': 64,
    'a2sgd-lstm-small': 64,
    'none-fnn3': 32 * 199_210,
    'none-lstm-small': 32 * 124_160,
    'topk-fnn3': 64 * 199,
    'topk-lstm-small': 64 * 124,
  });
  expect(result).toMatchObject({ type: 'result', verdict: 'checked' });

  // What is printed is what is written.
  const { page, ...written } = result;
  expect(page).toBe(path.join(out, `${FIGURE}.html`));
  expect(JSON.parse(readFileSync(path.join(out, `${FIGURE}.json`), 'utf8'))).toEqual(
    written,
  );
  expect(readdirSync(out).sort()).toEqual([`${FIGURE}.html`, `${FIGURE}.json`]);

  // The runs are on the list like any other.
  const list = lines(succeeded(await home.run(['runs', 'list', '--json'])).stdout);
  const names = (list as unknown as RunSummary[]).map(({ name }) => name);
  expect(names).toHaveLength(10);
  expect(names).toContain(`reproduce ${FIGURE}: A2SGD, fnn3, seed 1`);

  const { stdout: table } = succeeded(await home.run(['reproduce', 'table', out]));
  expect(table).toMatch(/\| A2SGD, Table 2: `a2sgd-table-2` \|.*\| \*\*checked\*\* \|/);

  // As if an earlier rule had judged the same runs.
  const file = path.join(out, `${FIGURE}.json`);
  const judge = async (): Promise<string> =>
    succeeded(await commands.run(['reproduce', 'judge', out])).stdout;
  expect(await judge()).toBe('a2sgd-table-2: checked, as before\n');
  writeFileSync(file, JSON.stringify({ ...written, verdict: 'refuted' }));
  expect(await judge()).toBe('a2sgd-table-2: refuted → checked\n');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(written);
  const [run, ...runs] = written['runs'] as readonly object[];
  const bare = { ...written, runs: [{ ...run, values: {} }, ...runs] };
  writeFileSync(file, JSON.stringify(bare));
  expect((await commands.run(['reproduce', 'judge', out])).stderr).toMatch(
    /RESULT_INVALID: its runs do not have what a2sgd-table-2 judges: .*a2sgd-table-2\.json/,
  );
  const others = JSON.stringify({ ...written, setup: 'another' });
  writeFileSync(file, others);
  expect(await judge()).toMatch(/^a2sgd-table-2: checked, by earlier settings; /);
  expect(readFileSync(file, 'utf8')).toBe(others);
});

test.skipIf(availableParallelism() >= 8)(
  'what times decide is left out at once by --quick, and said',
  async () => {
    const of = ['reproduce', 'sparcml-figure-3', '--quick', '--out', out];
    const cores = availableParallelism();
    const why = `times decide it, which 8 ranks on ${cores} processors do not give`;
    const { stdout } = succeeded(await home.run([...of, '--json']));
    expect(lines(stdout)).toEqual([
      { type: 'left-out', figure: 'sparcml-figure-3', why },
    ]);
    const human = succeeded(await home.run(of));
    expect(human.stdout).toContain(`  sparcml-figure-3: ${why}\n`);
  },
);

test(
  'what takes too long is given up after its first runs, and made at the end if it still fits',
  { tags: 'soak' },
  async () => {
    const of = ['reproduce', 'dct-table-1', '--quick', '--json', '--out', out];
    const command = home.start(of);
    let printed = '';
    command.child.stdout!.on('data', (text: string) => {
      printed += text;
    });
    await until(
      () => lines(printed.slice(0, printed.lastIndexOf('\n') + 1)),
      (found) => found.filter(({ type }) => type !== 'run').length > 1,
      'the figure to be given up',
    );
    command.child.kill('SIGINT');
    const { code } = await command.finished;
    const [begin, run] = lines(printed);
    const third = lines(printed)
      .slice(1)
      .find(({ type }) => type !== 'run');
    expect(begin).toMatchObject({ type: 'figure', runs: 50 });
    expect(run).toMatchObject({ type: 'run', index: 1 });
    // There is nothing else to spend the time on; whether it is enough depends on the machine.
    if (third!['type'] === 'left-out') {
      expect(code).toBe(0);
      expect(third!['why']).toMatch(
        /^\d of 50 runs took .*, so all would take some \d+ minutes$/,
      );
    } else {
      expect(third).toEqual(begin);
      expect(code).toBe(130);
    }
    expect(readdirSync(out)).not.toContain('dct-table-1.json');
  },
);

test.each(['light', 'dark'] as const)(
  'the page can be used by everybody, %s',
  { tags: 'soak' },
  async (scheme) => {
    const browser = await launchChromium();
    try {
      const context = await browser.newContext({ colorScheme: scheme });
      const page = await context.newPage();
      const errors = watchErrors(page);
      await page.goto(`file://${path.join(out, `${FIGURE}.html`)}`);
      await page.getByText('All runs', { exact: true }).click();
      expect(await page.getByRole('img').count()).toBe(1);
      // What can be wider than the window scrolls within itself.
      await page.setViewportSize({ width: 360, height: 700 });
      const [content, window] = (await page.evaluate(
        'const { scrollWidth, clientWidth } = document.documentElement; [scrollWidth, clientWidth]',
      )) as [number, number];
      expect(content).toBeLessThanOrEqual(window);
      // axe brings a script, which the page's own policy refuses.
      const unguarded = await browser.newContext({
        colorScheme: scheme,
        bypassCSP: true,
      });
      const examined = await unguarded.newPage();
      await examined.goto(`file://${path.join(out, `${FIGURE}.html`)}`);
      expect(await obstacles(examined)).toEqual([]);
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);

test(
  'Ctrl-C stops the runs under way, and what was made before is taken up again',
  { tags: 'soak' },
  async () => {
    const place = path.join(home.directory, 'interrupted');
    const command = home.start(['reproduce', FIGURE, '--out', place, '--json']);
    let printed = '';
    command.child.stdout!.on('data', (text: string) => {
      printed += text;
    });
    await until(
      () => printed,
      (text) => text.includes('"type":"run"'),
      'the first run of the sweep',
    );
    await until(
      () => home.processes('gradwire worker'),
      (found) => found.length > 0,
      'a run to be under way',
    );
    command.child.kill('SIGINT');
    const { code, stderr, stdout } = await command.finished;
    expect(code).toBe(130);
    expect(stderr).toMatch(/^gradwire: stopping .*\n$/);
    expect(stdout).not.toContain('"type":"result"');
    const kept = path.join(place, `${FIGURE}.runs.jsonl`);
    expect(readdirSync(place)).toEqual([path.basename(kept)]);
    await until(
      () => home.processes(),
      (left) => left.length === 0,
      'all processes to end',
    );
    const stopped = readFileSync(kept, 'utf8');
    // As a machine leaves it that lost its power while a line was written.
    appendFileSync(kept, '{"run": {"run": "cut');
    const made = lines(stdout).filter(({ type }) => type === 'run');
    const again = ['reproduce', FIGURE, '--out', place, '--json', '--resume'];
    const rest = lines(succeeded(await home.run(again)).stdout);
    const whole = rest.filter(({ type }) => type === 'run');
    expect(whole).toHaveLength(10);
    const taken = whole.filter((run) => run['kept'] === true);
    expect(taken.map(({ run, values }) => ({ run, values }))).toEqual(
      made.map(({ run, values }) => ({ run, values })),
    );
    expect(rest.at(-1)).toMatchObject({ type: 'result', verdict: 'checked' });
    expect(readdirSync(place).toSorted()).toEqual([
      ...[`${FIGURE}.html`, `${FIGURE}.json`],
    ]);
    // Its result is there.
    expect(succeeded(await home.run(again)).stdout).toBe('');
    // It was begun once more, and stopped.
    writeFileSync(kept, stopped);
    const newer = lines(succeeded(await home.run(again)).stdout);
    expect(newer.at(-1)).toMatchObject({ type: 'result', verdict: 'checked' });
    expect(readdirSync(place)).not.toContain(path.basename(kept));
    const list = lines((await home.run(['runs', 'list', '--json'])).stdout);
    const states = (list as unknown as RunSummary[]).map(({ state }) => state);
    expect(
      states.filter((state) => state === 'running' || state === 'starting'),
    ).toEqual([]);
  },
);

test('a run that fails makes its figure fail with its error, and is named', async () => {
  const place = path.join(home.directory, 'failed');
  const command = home.start(['reproduce', FIGURE, '--out', place, '--json']);
  const [worker] = await until(
    () => home.processes('gradwire worker'),
    (found) => found.length > 0,
    'a worker',
  );
  process.kill(worker!.pid, 'SIGKILL');
  const { code, stdout, stderr } = await command.finished;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^gradwire: [A-Z_]+: .*reproduce a2sgd-table-2: [^;]+, seed 1/,
  );
  const last = lines(stdout).at(-1) as { type: string; error: { code: string } };
  expect(last.type).toBe('failed');
  expect(stderr).toContain(last.error.code);
  // What ended beside it is kept.
  const kept = `${FIGURE}.runs.jsonl`;
  expect(readdirSync(place).filter((name) => name !== kept)).toEqual([]);
  const list = lines((await home.run(['runs', 'list', '--json'])).stdout);
  const runs = list as unknown as RunSummary[];
  expect(runs.map(({ error }) => error?.code)).toContain(last.error.code);
  expect(runs.filter(({ state }) => !hasEnded(state))).toEqual([]);
});

test('what cannot be repeated is refused before anything is run', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr, stdout } = await commands.run(['reproduce', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  expect(await refused('a2sgd-tabel-2')).toMatch(
    /FIGURE_UNKNOWN: .*Did you mean "a2sgd-table-2"\? Figures: sparcml-figure-1, /,
  );
  expect(await refused(FIGURE, 'nonsense')).toContain('FIGURE_UNKNOWN');
  expect(await refused()).toContain('FIGURE_MISSING');
  const file = path.join(home.directory, 'a-file');
  writeFileSync(file, '');
  expect(await refused(FIGURE, '--out', file)).toContain('OUTPUT_NOT_WRITABLE');
  const empty = path.join(home.directory, 'empty');
  mkdirSync(empty);
  expect(await refused('table', empty)).toContain('RESULTS_MISSING');
  // What is no result is left alone, but under the name of one.
  writeFileSync(path.join(empty, 'package.json'), '{}');
  mkdirSync(path.join(empty, 'qsgd-table-1.json'));
  expect(await refused('table', empty)).toContain('RESULTS_MISSING');
  expect(await refused('judge', path.join(empty, 'nowhere'))).toContain(
    'RESULTS_MISSING',
  );
  writeFileSync(path.join(empty, `${FIGURE}.json`), '{');
  expect(await refused('table', empty)).toMatch(/RESULT_INVALID.*a2sgd-table-2\.json/);
  const newer = JSON.stringify({ type: 'result', version: 3 });
  writeFileSync(path.join(empty, `${FIGURE}.json`), newer);
  for (const args of [['table'], ['judge'], [FIGURE, '--resume', '--out']]) {
    expect(await refused(...args, empty)).toMatch(
      /RESULT_TOO_NEW: .*format 3; this Gradwire reads 2/,
    );
  }
  expect(readFileSync(path.join(empty, `${FIGURE}.json`), 'utf8')).toBe(newer);
});

test('full scale is refused where it cannot be, before anything is run', async () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr, stdout } = await commands.run(['reproduce', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  const full = 'sparcml-figure-3';
  expect(await refused(full, '--full')).toMatch(/USAGE: --full needs machines/);
  expect(await refused(full, '--full', '--nodes', ' ,')).toContain('--full needs');
  expect(await refused(full, '--nodes', 'box')).toMatch(
    /USAGE: --nodes only works with --full/,
  );
  expect(await refused('--quick', '--full', '--nodes', 'box')).toMatch(
    /USAGE: --quick is of no use with --full/,
  );
  expect(await refused(full, '--data', 'x')).toMatch(
    /USAGE: --data only works with --full/,
  );
  expect(await refused(FIGURE, '--full', '--nodes', 'box')).toMatch(
    /FULL_SCALE_MISSING: .*choose one of: sparcml-figure-1, /,
  );
  expect(await refused('a2sgd-figure-3', '--full', '--nodes', 'box')).toContain(
    'DATA_DIRECTORY_MISSING',
  );
  expect(await refused(full, '--full', '--nodes', 'nowhere')).toContain('NODE_UNKNOWN');
});

test.runIf(availableParallelism() < 8)(
  'eight ranks are refused on fewer processors',
  async () => {
    const { code, stderr } = await commands.run([
      ...['reproduce', 'sparcml-figure-3', '--full', '--nodes', 'this-computer'],
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /WORLD_TOO_SMALL: .*has 8 ranks, but the machines have \d processors?/,
    );
  },
);

test('the list shows all figures', async () => {
  const { stdout } = succeeded(await commands.run(['reproduce', 'list', '--json']));
  const ids = lines(stdout).map(({ id }) => id);
  expect(ids).toContain(FIGURE);
  const full = lines(stdout).filter((line) => line['full'] === true);
  expect(full.map(({ id }) => id)).toContain('sparcml-figure-3');
  expect(full.map(({ id }) => id)).not.toContain(FIGURE);
  expect(full.find(({ id }) => id === 'qsgd-table-1')).toMatchObject({
    data: 'CIFAR-10',
  });
  const text = succeeded(await commands.run(['reproduce', 'list'])).stdout;
  expect(text.trim().split('\n')).toHaveLength(ids.length);
  expect(text).toMatch(/^a2sgd-figure-3 .*--full, with MNIST$/m);
});
