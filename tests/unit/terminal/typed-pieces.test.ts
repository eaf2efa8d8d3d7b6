/** A long paste goes to the host in pieces, each of whole characters. */
import { expect, test } from 'vitest';
import { TerminalSession } from '../../../src/renderer/state/terminals/terminal-session.svelte.ts';
import type { AppApi } from '../../../src/shared/rpc/rpc.ts';
import { MOST_TYPED } from '../../../src/shared/rpc/terminal.ts';

async function written(text: string): Promise<string[]> {
  const pieces: string[] = [];
  const api = {
    openTerminal: () => Promise.resolve(),
    writeTerminal: (_id: number, piece: string) => {
      pieces.push(piece);
      return Promise.resolve();
    },
  };
  const session = new TerminalSession(api as unknown as AppApi, () => 1, 'box', 1);
  session.attach({
    size: { columns: 80, rows: 24 },
    write: () => Promise.resolve(),
    restore: () => undefined,
  });
  await expect.poll(() => session.state.kind).toBe('open');
  session.type(text);
  await expect.poll(() => pieces.join('').length).toBe(text.length);
  return pieces;
}

const a = (count: number): string => 'a'.repeat(count);

test('no pair of surrogates is divided', async () => {
  const text = `${a(MOST_TYPED - 1)}😀b`;
  expect(await written(text)).toEqual([a(MOST_TYPED - 1), '😀b']);
  const pairs = '😀'.repeat(MOST_TYPED);
  const pieces = await written(`a${pairs}`);
  expect(pieces.join('')).toBe(`a${pairs}`);
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(MOST_TYPED);
    expect(piece.isWellFormed()).toBe(true);
  }
});

test('plain pieces are as long as a call takes', async () => {
  const pieces = await written(a(2 * MOST_TYPED + 1));
  expect(pieces.map(({ length }) => length)).toEqual([MOST_TYPED, MOST_TYPED, 1]);
});
