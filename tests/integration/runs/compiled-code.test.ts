import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-code-test-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** The weights at the end of a short run. */
async function train(environment: Record<string, string>): Promise<string> {
  await using home = new GradwireHome();
  const command = home.start(
    ['run', 'quickstart', '--json', '--set', 'iterations=3', '--set', 'world.ranks=2'],
    { environment },
  );
  const { code, stderr } = await command.finished;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const done = command.records.find((record) => record.type === 'done');
  expect(done).toMatchObject({ consistent: true });
  return done!.weights!;
}

/** Files that were kept, and which file each is. */
function kept(what: 'kernels' | 'digits'): Record<string, number> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && path.basename(entry.parentPath).startsWith(`${what}-`),
  );
  return Object.fromEntries(
    files.map(({ name, parentPath }) => [
      name,
      statSync(path.join(parentPath, name)).ino,
    ]),
  );
}

it(
  'a run gives the same bits with kernels and digits made, found or not kept',
  { tags: 'soak' },
  async () => {
    const first = await train({ NODE_COMPILE_CACHE: directory });
    const kernels = kept('kernels');
    expect(Object.keys(kernels).length).toBeGreaterThan(40);
    const digits = kept('digits');
    // Two ranks, each with training and test samples of its own.
    expect(Object.keys(digits)).toHaveLength(4);
    expect(await train({ NODE_COMPILE_CACHE: directory })).toBe(first);
    // What had not been found would have been written again.
    expect(kept('kernels')).toEqual(kernels);
    expect(kept('digits')).toEqual(digits);
    expect(await train({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(first);
  },
);
