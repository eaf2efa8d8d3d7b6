/** Directories in which nothing can be made, and one that is gone: an error each, and an end. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { builtCommand, GradwireHome, RunningCommand } from '../../harness/gradwire.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

/** Node's recursive mkdir never ends there. */
describe.skipIf(process.platform !== 'linux')('below /proc', () => {
  const nowhere = '/proc/gradwire/place';

  test('there is no home', async () => {
    const env = { ...process.env, GRADWIRE_HOME: nowhere, NO_COLOR: '1' };
    const command = spawn(process.execPath, [builtCommand, 'runs', 'list'], { env });
    expect(await new RunningCommand(command, false).finished).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^gradwire: HOME_UNUSABLE: cannot make \/proc\/gradwire\/place: ENOENT/,
      ) as string,
    });
  });

  test.each([
    ['reproduce', 'a2sgd-table-2', '--out', nowhere],
    ['data', 'fetch', 'mnist', '--from', 'http://127.0.0.1:9', '--to', nowhere],
  ])('nothing is written: %s %s', async (...args) => {
    expect(await home.run(args)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^gradwire: OUTPUT_NOT_WRITABLE: .*\(\/proc\/gradwire\/place\)\./m,
      ) as string,
    });
  });
});

test('a working directory that is gone is told as such', async () => {
  const gone = path.join(home.directory, 'gone');
  const shell = `mkdir '${gone}' && cd '${gone}' && rmdir '${gone}'`;
  const command = home.start(['run', 'quickstart'], { shell });
  expect(await command.finished).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^gradwire: DIRECTORY_GONE: .*\(cd\) and try again/,
    ) as string,
  });
});
