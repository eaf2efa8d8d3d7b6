/** Public data sets whose files come in one archive. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileServer } from './file-server.ts';
import {
  contents,
  described,
  expectAllIn,
  fetchInto,
  named,
  setAt,
} from './numbers-set.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-data-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('an archive', () => {
  async function archiveOf(files: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    const archive = pack();
    for (const [name, content] of files) archive.entry({ name }, content);
    archive.finalize();
    const pieces: Buffer[] = [];
    for await (const piece of archive) pieces.push(piece as Buffer);
    return gzipSync(Buffer.concat(pieces));
  }
  const within = new Map([
    ['../evil.bin', Buffer.from('evil')],
    ['inner/readme.html', Buffer.from('hello')],
    ['./inner/first.bin', contents.get('first.bin')!],
    ['inner/second.bin', contents.get('second.bin')!],
  ]);
  async function packed(files: ReadonlyMap<string, Buffer>) {
    const content = await archiveOf(files);
    const server = await FileServer.start(new Map([['all.tgz', content]]));
    const archive = { ...described('all.tgz', content), folder: 'inner' };
    return { content, server, set: { ...setAt(server.url), archive } };
  }

  it('gives its files, and goes', async () => {
    const { set, ...packing } = await packed(within);
    await using server = packing.server;
    await fetchInto(directory, set);
    expectAllIn(directory);
    expect(named(directory).toSorted()).toEqual(['first.bin', 'second.bin']);
    expect(existsSync(path.join(directory, '..', 'evil.bin'))).toBe(false);
    expect(existsSync(path.join(directory, 'all.tgz'))).toBe(false);
    expect((await fetchInto(directory, set)).fetched).toBe(0);
    expect(server.asked).toHaveLength(1);
  });

  it('gives the reason if it is stopped while unpacking', async () => {
    const { content, set, ...packing } = await packed(within);
    await using server = packing.server;
    writeFileSync(path.join(directory, 'all.tgz'), content);
    const fetching = fetchInto(directory, set, {
      signal: AbortSignal.abort(new Error('enough')),
    });
    await expect(fetching).rejects.toThrow('enough');
    expect(server.asked).toEqual([]);
  });

  it('may be put there by hand', async () => {
    const { content, set, ...packing } = await packed(within);
    await using server = packing.server;
    writeFileSync(path.join(directory, 'all.tgz'), content);
    expect((await fetchInto(directory, set)).fetched).toBe(0);
    expectAllIn(directory);
    expect(server.asked).toEqual([]);
  });

  it('is refused where a file in it is wrong', async () => {
    const { set, ...packing } = await packed(
      new Map([...within, ['inner/second.bin', Buffer.from('other')]]),
    );
    await using server = packing.server;
    await expect(fetchInto(directory, set)).rejects.toMatchObject({
      code: 'FETCH_FAILED',
      message: 'all.tgz does not contain the expected second.bin',
    });
    expect(named(directory)).toEqual(['first.bin']);
    expect(server.asked).toHaveLength(1);
  });
});
