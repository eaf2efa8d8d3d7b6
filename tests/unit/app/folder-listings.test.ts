import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../src/disk/temporary-directory.ts';
import { listFolder } from '../../../src/main/app/folder-listings.ts';
import { userHome } from '../../../src/main/home/user-home.ts';
import { MOST_LISTED } from '../../../src/shared/rpc/folder-listing.ts';

const root = temporaryDirectory('gradwire-test-');
afterAll(() => {
  rmSync(root, { recursive: true });
});

function folder(name: string, files: readonly string[]): string {
  const place = path.join(root, name);
  mkdirSync(place);
  for (const file of files) writeFileSync(path.join(place, file), '');
  return place;
}

test('has folders and Python files, also behind links, in the order of their names', async () => {
  const place = folder('mixed', ['train.py', 'notes.txt', '.hidden.py', 'Part 10.py']);
  writeFileSync(path.join(place, 'Part 2.py'), '');
  for (const name of ['models', '.venv', '__pycache__', 'folder.py']) {
    mkdirSync(path.join(place, name));
  }
  symlinkSync('models', path.join(place, 'linked'));
  symlinkSync('train.py', path.join(place, 'same.py'));
  symlinkSync('notes.txt', path.join(place, 'text'));
  symlinkSync('nowhere', path.join(place, 'broken.py'));
  expect(await listFolder(place)).toMatchObject({
    path: place,
    folders: ['folder.py', 'linked', 'models'].map((name) => ({
      name,
      path: path.join(place, name),
    })),
    scripts: ['Part 2.py', 'Part 10.py', 'same.py', 'train.py'],
    isCut: false,
  });
});

test('has the way to it, from the root', async () => {
  const { places } = await listFolder(folder('deep', []));
  expect(places[0]).toEqual({ name: '/', path: '/' });
  expect(places.slice(-2)).toEqual([
    { name: path.basename(root), path: root },
    { name: 'deep', path: path.join(root, 'deep') },
  ]);
});

test.each(['', '~', '.'])('%j is the home of the user', async (given) => {
  expect((await listFolder(given)).path).toBe(userHome());
});

test('is cut where it has too much for a page, and says so', async () => {
  const names = Array.from({ length: MOST_LISTED + 1 }, (_, i) => `part-${i}.py`);
  const { isCut, scripts } = await listFolder(folder('many', names));
  expect(isCut).toBe(true);
  expect(scripts).toHaveLength(MOST_LISTED);
  expect(scripts.at(-1)).toBe(`part-${MOST_LISTED - 1}.py`);
});

test.each(['missing', 'a-file/inside', 'x'.repeat(300)])(
  'that is not there is refused: %s',
  async (name) => {
    writeFileSync(path.join(root, 'a-file'), '');
    await expect(listFolder(path.join(root, name))).rejects.toMatchObject({
      code: 'WORKDIR_MISSING',
      kind: 'input',
      message: `there is no folder ${path.join(root, name)}`,
    });
  },
);
