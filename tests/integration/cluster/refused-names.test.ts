/** Names and addresses by which no machine is added or imported. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const nodes = (...args: string[]) => commands.run(['nodes', ...args]);

describe('a machine reached by SSH', () => {
  test('names that cannot be imported are listed, with the reason', async () => {
    const config = path.join(home.directory, 'odd-config');
    writeFileSync(config, 'Host lab-1 we;rd -dash *.lab\nHost "two words"\n');
    const listed = await nodes('import', '--config', config);
    expect(listed).toMatchObject({ code: 0, stdout: 'lab-1\n' });
    const lines = listed.stderr.trim().split('\n');
    expect(lines).toEqual(
      ['we;rd', '-dash', 'two words'].map(
        (name) =>
          expect.stringMatching(`^skipped: "${name}" is not a host name; `) as string,
      ),
    );
    const { code, stderr } = await nodes('import', '--config', config, 'we;rd');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('"we;rd" is not a host name') as string,
    });
  });

  test.each([
    [['--host=-oProxyCommand=x'], 'SSH_TARGET_INVALID: "-oProxyCommand=x"'],
    [['--host', 'a b'], '"a b" is not a host name (--host)'],
    [['--host', 'h', '--port', '22abc'], '22abc is not a port (--host, --port)'],
    [['--host', 'h', '--port', '70000'], 'SSH_TARGET_INVALID'],
    [['--host', 'h', '--jump', 'j;x'], '"j;x" is not a host name (--jump)'],
    [['--host', ''], 'NODE_INVALID: "" is not valid: '],
    [
      ['--host', 'h', '--slurm', '--time', 'soon'],
      'days-hours:minutes:seconds (--time)',
    ],
  ])('is not added as %j', async (options, code) => {
    const { code: exit, stderr } = await nodes('add', 'odd', ...options);
    expect(exit).toBe(2);
    expect(stderr).toContain(code);
  });
});
