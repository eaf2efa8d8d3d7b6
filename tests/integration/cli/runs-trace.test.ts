/** `gradwire runs trace`: a run in progress is traced, and the file is one that Perfetto opens. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crossings, readChromeTrace } from '../../harness/chrome-trace-reader.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';

let home: GradwireHome;
let commands: CommandHost;
beforeAll(() => {
  home = new GradwireHome();
  commands = new CommandHost(home);
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

test('traces the next iterations of a run, and later writes the same again', async () => {
  const settings = ['world.ranks=2', 'exchange.method=topk', ...LASTING];
  const launched = await commands.run([
    ...['run', 'quickstart', '--detach'],
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  expect(launched.code).toBe(0);
  const file = path.join(home.directory, 'trace.json');
  const traced = await commands.run([
    ...['runs', 'trace', 'last', '--iterations', '3', '--out', file],
  ]);
  expect(traced.stderr).toBe('');
  expect(traced.stdout).toMatch(
    /iterations (\d+) to (\d+) in .*trace\.json; open it at/,
  );
  const [, first, last] = /iterations (\d+) to (\d+)/.exec(traced.stdout)!;
  expect(Number(last) - Number(first)).toBe(2);

  const { flows, other, processes, slices, threads } = readChromeTrace(
    readFileSync(file, 'utf8'),
  );
  expect([...processes.values()]).toEqual(['rank 0', 'rank 1']);
  expect([...threads.values()]).toContain('iterations');
  expect(crossings(slices, 0.002)).toEqual([]);
  const iterations = slices.filter(({ category }) => category === 'iteration');
  expect(iterations).toHaveLength(6);
  const phases = slices.filter(({ category }) => category !== 'iteration');
  expect(new Set(phases.map(({ name }) => name))).toEqual(
    new Set(phases.map(({ name }) => name).filter((name) => PHASES.includes(name))),
  );
  for (const { args, end, process, start } of iterations) {
    const own = phases.filter(
      (one) => one.process === process && one.args['iteration'] === args['iteration'],
    );
    const sum = own.reduce((total, one) => total + one.end - one.start, 0);
    // A busy machine may take any part of an iteration: `runs/tracing` compares with the record.
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(1.01 * (end - start));
  }
  // Two ranks of three iterations send each other at least what they agree on.
  expect(flows.length).toBeGreaterThanOrEqual(6);
  const sends = phases.filter(({ name }) => name === 'send');
  for (const { from, to } of flows) {
    expect(from.process).not.toBe(to.process);
    expect(to.at).toBeGreaterThanOrEqual(from.at - 0.002);
    const isIn = (all: typeof slices, { process, at }: typeof from): boolean =>
      all.some(
        (one) =>
          one.process === process && one.start - 0.002 <= at && at <= one.end + 0.002,
      );
    expect([isIn(iterations, from), isIn(iterations, to)]).toEqual([true, true]);
    expect(isIn(sends, from)).toBe(true);
  }
  expect(other['clocks']).toMatchObject({ 'rank 0': { offsetNs: 0 } });

  await commands.run(['runs', 'stop', 'last']);
  const again = await commands.run([
    ...['runs', 'trace', 'last', '--out', `${file}.again`],
  ]);
  expect(again.stderr).toBe('');
  expect(readFileSync(`${file}.again`, 'utf8')).toBe(readFileSync(file, 'utf8'));
  const log = await commands.run(['runs', 'log', 'last']);
  expect(log.stdout).toContain(`traced iterations ${first!} to ${last!}`);
  const refused = await commands.run([
    ...['runs', 'trace', 'last', '--iterations', '0', '--out', file],
  ]);
  expect(refused).toMatchObject({ code: 2 });
});

const PHASES = [
  ...['data', 'compute', 'compress', 'send', 'receive', 'wait', 'reduce'],
  ...['decompress', 'apply'],
];
