/** Pages that send what none of ours does: they get an error, or lose their channel. */
import { expect, it } from 'vitest';
import { Sessions } from '../../../src/main/rpc/session.ts';
import { rpcArguments } from '../../../src/shared/rpc/rpc-arguments.ts';
import { effort, seed } from '../../harness/effort.ts';
import { below, mangled, mutant, oneOf } from '../../harness/mutations.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import { channelPair } from './channel-pair.ts';
import { SmallCore, SPEC } from './small-core.ts';

const MESSAGES = effort({ quick: 5000, soak: 100_000 });

const SWITCH = {
  type: 'switch',
  change: { method: 'topk', ratio: 0.01 },
  residual: 'drop',
};

const PAGE_CALLS: readonly (readonly [string, readonly unknown[]])[] = [
  ...Object.keys(rpcArguments).map((name) => [name, ['run-1']] as const),
  ['launch', [SPEC]],
  ['order', ['run-1', SWITCH]],
  ['order', ['run-1', { type: 'stop' }]],
  ['iterations', ['run-1', { from: 1, to: 9, most: 2 }]],
  ['bins', ['run-1', { from: 1, to: 9, width: 2 }]],
  ['runs', [{ search: 'first', limit: 5, offset: 2, deleted: true }]],
  ['editNode', ['box', { name: 'crate' }, { shown: {}, sameMachine: true }]],
  ['answer', [1, { type: 'secrets', answers: ['x'] }]],
  ['openTerminal', [1, 'box', { columns: 80, rows: 24 }]],
];

/** As JSON cannot say them, they cross as something else. */
const json = (message: unknown): string =>
  JSON.stringify(message, (_, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value,
  ) ?? '';

it(`${MESSAGES} messages that are nearly real leave the core as it was`, async () => {
  const core = new SmallCore();
  const sessions = new Sessions(core);
  const random = generator(seed);
  let line = channelPair();
  sessions.serve(line.host);
  let refused = 0;
  for (let sent = 0; sent < MESSAGES; sent++) {
    const [m, a] = oneOf(random, PAGE_CALLS);
    const message =
      random() < 0.8
        ? { t: 'q', i: `${sent}`, m, a, o: random() < 0.1 }
        : { t: 's', i: `${below(random, 5)}`, r: null, e: { code: 'X', message: 'x' } };
    const text = json(mutant(random, message));
    const bytes = new TextEncoder().encode(text);
    line.page.post(
      random() < 0.9 ? text : new TextDecoder().decode(mangled(random, bytes)),
    );
    if (sent % 10 > 0 && line.host.closedFor === undefined) continue;
    await new Promise(setImmediate);
    core.calls.length = 0;
    if (line.host.closedFor === undefined) continue;
    expect(line.host.closedFor).toBe('refused');
    refused++;
    line = channelPair();
    sessions.serve(line.host);
  }
  expect(refused).toBeGreaterThan(0);
  await new Promise(setImmediate);
  if (line.host.closedFor !== undefined) {
    line = channelPair();
    sessions.serve(line.host);
  }
  // A good call, and what only that calls.
  const told: string[] = [];
  line.page.onMessage((text) => told.push(String(text)));
  line.page.post(json({ t: 'q', i: 'last', m: 'run', a: ['run-1'] }));
  await expect.poll(() => told.join('\n')).toContain('"i":"last"');
  expect(told.at(-1)).toContain('"name":"first"');
  expect(core.named('run').at(-1)).toEqual(['run-1']);
  line.host.close();
  expect(core.listening).toBe(0);
});

it.each(['../../etc', '/tmp', '', 'a\0', '__proto__', 'x'.repeat(65)])(
  'no call takes %j for the name of a run',
  async (run) => {
    const core = new SmallCore();
    const { host, page } = channelPair();
    new Sessions(core).serve(host);
    const told: string[] = [];
    page.onMessage((text) => told.push(String(text)));
    const calls = ['run', 'relaunch', 'watch', 'fetchMissing'];
    for (const m of calls) page.post(json({ t: 'q', i: m, m, a: [run] }));
    page.post(json({ t: 'q', i: 'stop', m: 'order', a: [run, { type: 'stop' }] }));
    await expect.poll(() => told.length).toBe(calls.length + 1);
    for (const text of told) expect(text).toContain('RPC_INVALID_ARGUMENTS');
    expect(core.calls).toEqual([]);
    host.close();
  },
);
