/** Wrong input: one line on stderr, exit code 2, nothing else, whatever the command. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const file = (name: string, text: string): string => {
  const target = path.join(home.directory, name);
  writeFileSync(target, text);
  return target;
};
const latin = path.join(home.directory, 'latin.yaml');
writeFileSync(latin, Buffer.from('name: \u00e9', 'latin1'));
const broken = file('broken.yaml', 'workload: { model: fnn3\niterations: 3');
const unknownKey = file(
  'key.yaml',
  'workload: { model: fnn3, dataset: digits, batchPerRnak: 3 }',
);
const noRanks = file(
  'zero.json',
  '{"workload":{"model":"fnn3","dataset":"digits"},"world":{"ranks":0}}',
);
const controls = file('controls.yaml', '\u001b[2J: \u001b]0;mine\u0007');
const empty = path.join(home.directory, 'empty');
mkdirSync(empty);

const run = (...args: string[]): string[] => ['run', 'quickstart', ...args];

test.each([
  [['frobnicate'], 'USAGE', /unknown command 'frobnicate'/],
  [['runs'], 'USAGE', /a command is missing/],
  [['runs', 'lsit'], 'USAGE', /unknown command 'lsit'.*Did you mean list\?/],
  [['run'], 'USAGE', /missing required argument 'spec'/],
  [run('--jsn'), 'USAGE', /unknown option '--jsn'.*Did you mean --json\?/],
  [run('extra'), 'USAGE', /too many arguments/],
  [['runs', 'list', '--limit', 'many'], 'USAGE', /'many' is invalid.*1 to 1000/],
  [run('--accept-host-key', 'MD5:1'), 'USAGE', /'MD5:1' is invalid.*SHA256: and 43/],
  [
    ['compress', '--method', 'topk', '--in', 'a.f32', '--in', 'b.f32', '--out', 'x.gw'],
    'USAGE',
    /--in is given twice: "a\.f32" and "b\.f32" \(gradwire compress\)\. Give it once/,
  ],
  [
    ['nodes', 'add', 'box', '--host=a', '--host=a'],
    'USAGE',
    /--host is given twice \(gradwire nodes add\)/,
  ],
  [['serve', '--port', '99999'], 'USAGE', /'99999' is invalid/],
  [['run', 'quikstart'], 'PRESET_UNKNOWN', /Did you mean "quickstart"\?/],
  [['presets', 'nothing-like-it'], 'PRESET_UNKNOWN', /quickstart, /],
  [['run', './nope.yaml'], 'SPEC_UNREADABLE', /no such file \(\.\/nope\.yaml\)/],
  [['run', empty], 'SPEC_UNREADABLE', /it is a directory/],
  [
    ['run', latin],
    'SPEC_UNREADABLE',
    /the spec is not UTF-8: save it as UTF-8 \(.*latin\.yaml\)/,
  ],
  [
    ['compress', '--method', 'topk', '--in', '/dev/zero', '--out', 'x.gw'],
    'FILE_UNREADABLE',
    /it is not a regular file \(\/dev\/zero\)/,
  ],
  [['run', broken], 'SPEC_UNREADABLE', /broken\.yaml:\d+:\d+\)/],
  [['run', controls], 'SPEC_UNREADABLE|SPEC_UNKNOWN_KEY', /\\x1b/],
  [['run', '/dev/zero'], 'SPEC_UNREADABLE', /more than 1000000 bytes \(\/dev\/zero\)/],
  [
    run('--set', 'workload.model=/dev/zero'),
    'MODEL_FILE_UNREADABLE',
    /not a regular file/,
  ],
  [['run', unknownKey], 'SPEC_UNKNOWN_KEY', /Did you mean "workload\.batchPerRank"/],
  [['run', noRanks], 'SPEC_INVALID', /"world\.ranks" is 0: .*zero\.json/],
  [run('--set', 'iterations=many'), 'SPEC_INVALID', /"iterations" is "many"/],
  [run('--set', 'world.ranks=0'), 'SPEC_INVALID', /"world\.ranks" is 0/],
  [run('--set', 'wrold.ranks=2'), 'SPEC_UNKNOWN_KEY', /Did you mean "world"\?/],
  [run('--set', 'iterations'), 'SETTING_INVALID', /"iterations" is not key=value/],
  [run('--set', 'world.nodes=[box]'), 'NODE_UNKNOWN', /no machine named "box"/],
  [run('--switch', 'topk'), 'SWITCH_INVALID', /must be 1 or more/],
  [run('--switch', '50:topk'), 'SWITCH_INVALID', /"topk" is not key=value/],
  [run('--set', 'exchange.method=topkk'), 'METHOD_UNKNOWN', /topkk.*topk/],
  [run('--switch', '50:method=tokp'), 'METHOD_UNKNOWN', /tokp.*topk/],
  [run('--switch', '9999:method=topk'), 'SWITCH_TOO_LATE', /9999/],
  [
    ['run', 'digits-topk', '--set', 'exchange.ratio=2'],
    'METHOD_PARAMETER_INVALID',
    /ratio/,
  ],
  [run('--set', 'workload.model=fnn'), 'MODEL_UNKNOWN', /fnn3/],
  [
    ['run', 'mnist-topk', '--set', `workload.data=${empty}`],
    'DATA_FILE_MISSING',
    /empty/,
  ],
  [['run', 'mnist-topk'], 'DATA_DIRECTORY_MISSING', /workload\.data/],
  [['runs', 'show', 'nosuchrun'], 'RUN_UNKNOWN', /nosuchrun/],
  [['runs', 'stop', 'last'], 'RUN_UNKNOWN', /no runs yet/],
  [
    ['runs', 'switch', 'x', '__proto__=1'],
    'SWITCH_INVALID',
    /"__proto__" is no key that can be set/,
  ],
  [['runs', 'switch', 'x', 'topk'], 'SWITCH_INVALID', /is not key=value/],
  [['runs', 'export', 'x', '--format', 'xml'], 'USAGE', /'xml' is invalid/],
])('gradwire %j: %s', async (args, code, message) => {
  const { code: exit, stdout, stderr } = await commands.run(args);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr.trimEnd()).not.toMatch(/\p{Cc}/u);
  expect(stderr).toMatch(new RegExp(`^gradwire: (${code}): `));
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
  expect(stdout).toBe('');
  expect(exit).toBe(2);
});

test('a command that is a process of its own ends with it, too', async () => {
  const { code, stderr, stdout } = await home.run(['frobnicate']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^gradwire: USAGE: unknown command 'frobnicate'.*\n$/);
});

test('none of them left a run, a journal or a process behind', async () => {
  expect((await home.run(['runs', 'list', '--json'])).stdout).toBe('');
  expect(readdirSync(home.directory)).not.toContain('runs');
  expect(home.supervisors()).toEqual([]);
});

test('help and version are no errors', async () => {
  for (const args of [[], ['--help'], ['runs', '--help'], ['run', '--help']]) {
    const { code, stdout, stderr } = await commands.run(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: gradwire/);
    expect(stdout).not.toMatch(/default: (\[\]|false)/);
  }
  const { stdout } = await commands.run(['--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('an invalid database is named, with exit code 1', async () => {
  await using other = new GradwireHome();
  writeFileSync(path.join(other.directory, 'gradwire.db'), 'x'.repeat(5000));
  const { code, stderr } = await other.run(['runs', 'list']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^gradwire: DATABASE_CORRUPT: .*gradwire\.db.*\n$/);
});

test('the schema of a spec is JSON Schema with every key', async () => {
  const { stdout } = await commands.run(['spec', 'schema']);
  const schema = JSON.parse(stdout) as { properties: object };
  expect(Object.keys(schema.properties)).toEqual(
    expect.arrayContaining([
      'workload',
      'world',
      'optimizer',
      'exchange',
      'iterations',
    ]),
  );
});

test('what a spec can name is listed, described and written as JSON', async () => {
  const said = async (...args: string[]) => succeeded(await commands.run(args)).stdout;
  expect(await said('methods')).toMatch(/^topk +Top-k +The k entries/m);
  const topk = await said('methods', 'topk');
  expect(topk).toMatch(/^Source +SparCML/m);
  expect(topk).toMatch(/^ratio +0\.01 +0 … 1 /m);
  expect(JSON.parse(await said('collectives', 'ring', '--json'))).toMatchObject({
    id: 'ring',
    takes: ['dense', 'scalars'],
  });
  expect(await said('models', 'fnn3')).toMatch(/^Parameters +199,210$/m);
  expect(await said('datasets', 'mnist')).toMatch(/^Files +in workload\.data$/m);
  expect(JSON.parse(await said('optimizers', 'adam', '--json'))).toMatchObject({
    id: 'adam',
    leavesMomentum: false,
  });
  const optimiser = await commands.run(['optimizers', 'adamm']);
  expect(optimiser.stderr).toMatch(
    /^gradwire: OPTIMIZER_UNKNOWN: there is no optimiser "adamm"\. Did you mean "adam"\?\n$/,
  );
  const wrong = await commands.run(['methods', 'topc']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/^gradwire: METHOD_UNKNOWN: .*Did you mean "topk"\?\n$/);
});

test('a wrong option points to the help of its command, and help leads there', async () => {
  for (const [words, next] of [
    [['runs', 'list', '--wrong'], 'See: gradwire runs list --help.'],
    [['runs'], 'See: gradwire runs --help.'],
    [['spec', 'shema'], 'Did you mean schema?'],
    [['--wrong'], 'See: gradwire --help.'],
  ] as const) {
    const { code, stderr } = await commands.run([...words]);
    expect({ words, code }).toEqual({ words, code: 2 });
    expect(stderr).toMatch(/^gradwire: USAGE: .*\n$/);
    expect(stderr).toContain(next);
  }
  const direct = await commands.run(['runs', 'list', '--help']);
  expect(await commands.run(['help', 'runs', 'list'])).toEqual(direct);
  expect((await commands.run(['help'])).stdout).toMatch(/^Usage: gradwire/);
});

test('commands that change something answer with JSON if asked', async () => {
  await using other = new GradwireHome();
  const answered = async (...args: string[]) =>
    JSON.parse(succeeded(await other.run([...args, '--json'])).stdout) as unknown;
  expect(await answered('nodes', 'add', 'box', '--host', 'box.lab')).toEqual({
    added: 'box',
  });
  expect(await answered('nodes', 'edit', 'box', '--name', 'crate')).toEqual({
    changed: 'box',
    name: 'crate',
  });
  expect(await answered('nodes', 'remove', 'crate')).toEqual({ removed: 'crate' });
  expect(await answered('runs', 'purge', '--deleted')).toMatchObject({ purged: 0 });
});

test('completion has every command', async () => {
  const { stdout } = await commands.run(['completion', 'bash']);
  for (const words of [
    '',
    'runs list',
    'nodes network',
    'bench network',
    'completion',
  ]) {
    expect(stdout).toContain(`'${words}') below=`);
  }
  expect(stdout).toContain('--accept-host-key');
});

test('a code is explained', async () => {
  const { stdout } = await commands.run(['errors', 'host_key_changed']);
  expect(stdout).toMatch(/^HOST_KEY_CHANGED: .*intercepting.*\nDo not connect\..*\n$/);
  const { code, stderr } = await commands.run(['errors', 'HOST_KEY_CHANGES']);
  expect(code).toBe(2);
  expect(stderr).toContain('Did you mean "HOST_KEY_CHANGED"?');
});

test('a preset that is printed is a spec that can be given back', async () => {
  const { stdout } = await commands.run(['presets', 'digits-topk']);
  const copy = file('copy.yaml', stdout);
  const { stderr, code } = await commands.run(['run', copy, '--set', 'iterations=0']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/"iterations" is 0.*copy\.yaml/);
});
