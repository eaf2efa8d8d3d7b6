/** Terminals of a page: on a real sshd, and on this computer. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PIECE, WINDOW } from '../../../src/main/terminal/output-flow.ts';
import { MOST_TERMINALS } from '../../../src/main/terminal/page-terminals.ts';
import { LOCAL_NODE } from '../../../src/shared/machines/node-entry.ts';
import { until } from '../../harness/processes.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer } from '../../harness/sshd.ts';
import { TerminalApp, type TerminalPage } from './terminal-page.ts';

/** `seq 1 LINES` prints 20 MB at a terminal. */
const LINES = 2_350_000;

let machine: SshServer;
let app: TerminalApp;

beforeAll(async () => {
  machine = await SshServer.start();
  app = await TerminalApp.open(machine);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
});

const gone = (pid: number): Promise<boolean> =>
  until(
    () => isThere(pid),
    (there) => !there,
    `process ${pid} to end`,
  );

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.each(['box', LOCAL_NODE])('on %s', (node) => {
  it('is a terminal: typed into, coloured, resized, and told how its shell ends', async () => {
    using page = await app.page();
    const { api } = page.connection;
    await page.openQuiet(1, node);
    await page.type(1, 'echo "$TERM $((6 * 7))"; stty size\n');
    await page.seen(1, 'xterm-256color 42\r\n24 80\r\n');
    await page.type(1, "printf '\\033[38;2;1;2;3mdeep\\033[0m \\303\\251\\n'\n");
    await page.seen(1, '\x1b[38;2;1;2;3mdeep\x1b[0m é\r\n');

    await api.resizeTerminal(1, { columns: 132, rows: 43 });
    await page.type(1, 'stty size\n');
    await page.seen(1, '43 132\r\n');

    // What runs is interrupted by the key, not the shell. It says itself that it runs: a key
    // that comes before it is in the foreground would be the shell's.
    await page.type(1, "sh -c 'echo sleeping; exec sleep 1000'\n");
    await page.seen(1, 'sleeping\r\n');
    await page.type(1, '\x03');
    await page.type(1, 'echo "after $?"\n');
    await page.seen(1, 'after 130\r\n');

    await page.type(1, 'exit 7\n');
    expect(await page.ended(1)).toEqual({ reason: 'exited', code: 7, signal: null });
    await expect(page.type(1, 'x')).rejects.toMatchObject({ code: 'TERMINAL_GONE' });
  });

  it('ends its shell when it is closed, and when its page goes', async () => {
    const page = await app.page();
    for (const id of [1, 2]) await page.openQuiet(id, node);
    const pids: number[] = [];
    for (const id of [1, 2]) {
      await page.type(id, 'echo "$$."\n');
      pids.push(Number.parseInt(await page.seen(id, '.\r\n'), 10));
    }
    await page.connection.api.closeTerminal(1);
    await gone(pids[0]!);
    expect(isThere(pids[1]!)).toBe(true);
    page[Symbol.dispose]();
    await gone(pids[1]!);
    expect(page.ends.size).toBe(0);
  });
});

it(
  '20 MB come whole and in order, and never more unanswered than the window',
  { tags: 'soak' },
  async () => {
    using page = await app.page();
    await page.openQuiet(1, 'box');
    page.mostUnanswered = 0;
    // A page that takes nothing until the shell is held back, then a piece at a time.
    let take!: () => void;
    const held = new Promise<void>((resolve) => {
      take = resolve;
    });
    page.taking = () => held;
    await page.type(1, `seq 1 ${LINES}; echo do''ne\n`);
    await until(
      () => page.unanswered,
      (count) => count >= WINDOW,
      'the window to fill',
    );
    take();
    page.taking = () => new Promise((resolve) => setImmediate(resolve));
    const shown = await page.seen(1, 'done\r\n');
    const lines = shown.split('\r\n');
    expect(lines).toHaveLength(LINES + 2);
    expect(lines.findIndex((line, index) => line !== String(index + 1))).toBe(LINES);
    expect(page.mostUnanswered).toBeLessThanOrEqual(WINDOW + PIECE);
  },
);

it('is only its own page’s: another has the same numbers for its own', async () => {
  using first = await app.page();
  using second = await app.page();
  await first.openQuiet(1, 'box');
  await expect(second.type(1, 'echo stolen\n')).rejects.toMatchObject({
    code: 'TERMINAL_GONE',
  });
  await second.openQuiet(1, 'box');
  await second.type(1, 'echo second\n');
  await second.seen(1, 'second\r\n');
  expect(first.output(1)).toBe('');
});

it('refuses invalid requests with a reason', async () => {
  using page = await app.page();
  const { api } = page.connection;
  const size = { columns: 80, rows: 24 };
  await expect(api.openTerminal(1, 'nowhere', size)).rejects.toMatchObject({
    code: 'NODE_UNKNOWN',
  });
  const wrong = { columns: 0, rows: 24 };
  await expect(api.openTerminal(1, 'box', wrong)).rejects.toMatchObject({
    code: 'RPC_INVALID_ARGUMENTS',
  });
  const ids = Array.from({ length: MOST_TERMINALS }, (_, index) => index + 1);
  await Promise.all(ids.map((id) => api.openTerminal(id, LOCAL_NODE, size)));
  await expect(api.openTerminal(1, 'box', size)).rejects.toMatchObject({
    code: 'TERMINAL_TAKEN',
  });
  await expect(api.openTerminal(99, 'box', size)).rejects.toMatchObject({
    code: 'TERMINAL_LIMIT',
  });
  await api.closeTerminal(1);
  await api.openTerminal(99, 'box', size);
});

it('leaves room for the app: more than a few get connections of their own', async () => {
  using first = await app.page();
  using second = await app.page();
  const size = { columns: 80, rows: 24 };
  const open = async (page: TerminalPage, ids: readonly number[]): Promise<void> => {
    const { api } = page.connection;
    await Promise.all(ids.map((id) => api.openTerminal(id, 'box', size)));
  };
  const upTo = (last: number): number[] =>
    Array.from({ length: last }, (_, i) => i + 1);
  await open(first, upTo(4));
  const other = makeKey(path.join(machine.directory, 'other'));
  machine.authorizeOnly(other);
  await expect(open(first, [5])).rejects.toMatchObject({
    code: 'TERMINAL_LIMIT',
    message: expect.stringMatching(
      /^4 terminals are open there; another needs a further SSH connection, .*publickey/,
    ) as string,
    place: 'box',
  });
  machine.authorize(machine.key);
  await open(first, upTo(16).slice(4));
  await open(second, upTo(4));
  await expect(open(second, [5])).rejects.toMatchObject({
    code: 'TERMINAL_LIMIT',
    message: expect.stringMatching(/^20 terminals are open there;/) as string,
  });
  await first.connection.api.checkNode('box');
  await second.type(4, 'echo he""re\n');
  await second.seen(4, 'here\r\n');
});

it('says that the connection was lost, and has another shell over the next one', async () => {
  using page = await app.page();
  await page.openQuiet(1, 'box');
  await machine.cutSessions();
  expect(await page.ended(1)).toMatchObject({
    reason: 'lost',
    error: { code: 'SSH_CONNECTION_LOST' },
  });
  await page.openQuiet(2, 'box');
});

it('closed while it is being opened, it never opens', async () => {
  using page = await app.page();
  const { api } = page.connection;
  await machine.cutSessions();
  const opening = api.openTerminal(1, 'box', { columns: 80, rows: 24 });
  await api.closeTerminal(1);
  await expect(opening).rejects.toMatchObject({ code: 'ABORTED' });
});
