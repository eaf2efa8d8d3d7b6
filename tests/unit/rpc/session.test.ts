/** The page's connection and main's session, talking: what is pushed, and lines that break. */
import { describe, expect, it, vi } from 'vitest';
import { MAX_RECORDS_IN_FLIGHT, Sessions } from '../../../src/main/rpc/session.ts';
import { HostConnection } from '../../../src/renderer/state/host/host-connection.ts';
import { channelPair } from './channel-pair.ts';
import { ENTRY, RUN, SmallCore } from './small-core.ts';
import { open } from './open-session.ts';

describe('a push', () => {
  it('of records comes only to those who watch the run', async () => {
    const core = new SmallCore();
    const sessions = new Sessions(core);
    const watching = await open(core, sessions);
    const other = await open(core, sessions);
    const seen = vi.fn();
    const unseen = vi.fn();
    watching.connection.on('records', seen);
    other.connection.on('records', unseen);
    other.connection.on('notice', unseen);
    await watching.connection.api.watch('run-1');
    core.emit('records', 'run-1', [ENTRY]);
    core.emit('records', 'run-2', [ENTRY]);
    core.emit('notice', { code: 'X', kind: 'failure', message: 'm' });
    await expect.poll(() => unseen).toHaveBeenCalledOnce();
    expect(seen.mock.calls).toEqual([['run-1', [ENTRY]]]);
    expect(unseen.mock.calls).toEqual([[{ code: 'X', kind: 'failure', message: 'm' }]]);
  });

  it('ends for the core when the last watcher has gone', async () => {
    const core = new SmallCore();
    const sessions = new Sessions(core);
    const one = await open(core, sessions);
    const two = await open(core, sessions);
    await one.connection.api.watch('run-1');
    await two.connection.api.watch('run-1');
    await one.connection.api.unwatch('run-1');
    expect(core.named('unwatch')).toEqual([]);
    two.connection.close();
    await expect.poll(() => core.named('unwatch')).toEqual([['run-1']]);
    expect(sessions.size).toBe(1);
    expect(core.listening).toBe(1);
  });

  it('is dropped while the page does not keep up, and the page is told once', async () => {
    const core = new SmallCore();
    const { connection, line } = await open(core);
    await connection.api.watch('run-1');
    const records = vi.fn();
    const resync = vi.fn();
    connection.on('records', records);
    connection.on('resync', resync);
    const { page } = line();
    page.held = true;
    const batch = Array.from({ length: 1024 }, () => ENTRY);
    const fitting = MAX_RECORDS_IN_FLIGHT / batch.length;
    for (let i = 0; i < fitting + 50; i++) core.emit('records', 'run-1', batch);
    await Promise.resolve();
    // Bounded: what waits is what was in flight, however much was pushed.
    expect(page.waiting).toBe(fitting);
    page.held = false;
    page.drain();
    await expect.poll(() => resync).toHaveBeenCalledOnce();
    expect(records).toHaveBeenCalledTimes(fitting);
    core.emit('records', 'run-1', [ENTRY]);
    await expect.poll(() => records).toHaveBeenCalledTimes(fitting + 1);
    expect(resync).toHaveBeenCalledOnce();
  });

  it('that no store has comes even to a page that does not keep up', async () => {
    const core = new SmallCore();
    const { connection, line } = await open(core);
    await connection.api.watch('run-1');
    const notice = vi.fn();
    const changed = vi.fn();
    connection.on('notice', notice);
    connection.on('runChanged', changed);
    const { page } = line();
    page.held = true;
    const batch = Array.from({ length: MAX_RECORDS_IN_FLIGHT }, () => ENTRY);
    core.emit('records', 'run-1', batch);
    core.emit('runChanged', RUN);
    core.emit('notice', { code: 'X', kind: 'failure', message: 'once' });
    page.held = false;
    page.drain();
    await expect.poll(() => notice).toHaveBeenCalledOnce();
    // What is stored is left out: the page reads it again.
    expect(changed).not.toHaveBeenCalled();
  });

  it('larger than the limit still goes when it is alone', async () => {
    const core = new SmallCore();
    const { connection } = await open(core);
    await connection.api.watch('run-1');
    const records = vi.fn();
    connection.on('records', records);
    const batch = Array.from({ length: MAX_RECORDS_IN_FLIGHT + 1 }, () => ENTRY);
    core.emit('records', 'run-1', batch);
    await expect.poll(() => records).toHaveBeenCalledOnce();
  });
});

describe('a line that breaks', () => {
  it('comes back, watches again, and asks the page to read again', async () => {
    const core = new SmallCore();
    const { connection, lines, line } = await open(core);
    const status = vi.fn();
    const resync = vi.fn();
    const records = vi.fn();
    connection.on('status', status);
    connection.on('resync', resync);
    connection.on('records', records);
    await connection.api.watch('run-1');
    line().host.close();
    expect(connection.status).toBe('reconnecting');
    await expect.poll(() => resync).toHaveBeenCalledOnce();
    expect(lines).toHaveLength(2);
    expect(status.mock.calls).toEqual([['reconnecting'], ['connected']]);
    expect(core.named('watch')).toEqual([['run-1'], ['run-1']]);
    core.emit('records', 'run-1', [ENTRY]);
    await expect.poll(() => records).toHaveBeenCalledOnce();
  });

  it('rejects the calls under way and those made meanwhile', async () => {
    const core = new SmallCore();
    let tries = 0;
    const sessions = new Sessions(core);
    const pairs: ReturnType<typeof channelPair>[] = [];
    const connection = new HostConnection(async () => {
      if (++tries === 2) return { kind: 'refused' };
      const pair = channelPair();
      pairs.push(pair);
      sessions.serve(pair.host);
      return { kind: 'open', channel: pair.page };
    }, undefined);
    await connection.settled();
    pairs[0]!.host.held = true;
    const call = connection.api.info();
    const lost = { code: 'CONNECTION_LOST' };
    const rejected = expect(call).rejects.toMatchObject(lost);
    pairs[0]!.page.close();
    await rejected;
    await expect.poll(() => connection.status).toBe('refused');
    await expect(connection.api.info()).rejects.toMatchObject(lost);
    expect(tries).toBe(2);
  });

  it('is tried again until the host answers', async () => {
    const core = new SmallCore();
    const sessions = new Sessions(core);
    let tries = 0;
    const connection = new HostConnection(async () => {
      if (++tries < 3) return { kind: 'unreachable' };
      const pair = channelPair();
      sessions.serve(pair.host);
      return { kind: 'open', channel: pair.page };
    }, undefined);
    await connection.settled();
    expect(tries).toBe(3);
    expect(connection.status).toBe('connected');
    connection.close();
    expect(sessions.size).toBe(0);
  });
});

describe('a terminal’s output', () => {
  it('reaches the page whose it is, and is answered when that has taken it', async () => {
    const core = new SmallCore();
    const { connection, sessions } = await open(core);
    const { connection: other } = await open(core, sessions);
    const heard: unknown[] = [];
    let take!: () => void;
    const taken = new Promise<void>((resolve) => (take = resolve));
    connection.on('terminalOutput', async (...args) => {
      heard.push(args);
      await taken;
    });
    other.on('terminalOutput', () => {
      heard.push('other');
    });
    const [page] = [...core.pages];
    let answered = false;
    const answer = Promise.resolve(page!.terminalOutput(1, 'hello')).then(
      () => (answered = true),
    );
    await expect.poll(() => heard).toEqual([[1, 'hello']]);
    await connection.api.info();
    expect(answered).toBe(false);
    take();
    await answer;
  });

  it('ends with its session', async () => {
    const core = new SmallCore();
    const { connection } = await open(core);
    expect(core.pages.size).toBe(1);
    connection.close();
    await expect.poll(() => core.pages.size).toBe(0);
  });
});
