/** The lock of a home between processes that want it at once. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { ownHolder } from '../../../src/disk/lock-holder.ts';

const script = path.join(import.meta.dirname, 'lock-taker.ts');
const TAKERS = 5;
const ROUNDS = effort({ quick: 2, soak: 30 });

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-lock-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

class Taker {
  readonly child: ChildProcess;
  #said = '';

  constructor() {
    this.child = spawn(process.execPath, [script, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
  }

  async line(number: number): Promise<string> {
    while (this.#said.split('\n').length <= number) {
      await once(this.child.stdout!, 'data');
    }
    return this.#said.split('\n')[number - 1]!;
  }
}

/** @returns what each says */
async function takeAtOnce(): Promise<readonly string[]> {
  const takers = Array.from({ length: TAKERS }, () => new Taker());
  try {
    await Promise.all(takers.map((taker) => taker.line(1)));
    for (const { child } of takers) child.stdin!.write('now\n');
    return await Promise.all(takers.map((taker) => taker.line(2)));
  } finally {
    for (const { child } of takers) child.kill('SIGKILL');
    await Promise.all(takers.map(({ child }) => child.exitCode ?? once(child, 'exit')));
  }
}

it('has one holder, whoever was killed with it', async () => {
  // The lock of a process that has ended; then those of the takers killed in each round.
  const dead = { ...ownHolder('0'.repeat(32)), started: 'before' };
  writeFileSync(path.join(directory, 'supervisor.lock'), JSON.stringify(dead));
  for (let round = 0; round < ROUNDS; round++) {
    const said = await takeAtOnce();
    expect(said.toSorted()).toEqual([
      ...Array.from({ length: TAKERS - 1 }, () => 'alive'),
      'held',
    ]);
    expect(readdirSync(directory)).toEqual(['supervisor.lock']);
  }
});
