/** Ctrl-C while a command deploys: real signals to a process of its own. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const source = path.resolve('src/cli/session/deployments.ts');

/** Runs the lines in a process whose `deployments` print nothing of what is tested. */
function run(
  lines: string,
): Promise<{ readonly signal: string | null; readonly stdout: string }> {
  const script = `
    const { Deployments } = await import(${JSON.stringify(source)});
    const deployments = new Deployments();
    const cancel = () => console.log('cancelled');
    const sent = (doneBytes) => deployments.progress('box',
      { step: 'upload', package: 'agent', doneBytes, totalBytes: 9 }, cancel);
    const interrupt = () => process.kill(process.pid, 'SIGINT');
    const turn = () => new Promise((resolve) => setTimeout(resolve, 50));
    ${lines}
    process.exit(0);`;
  return new Promise((resolve) => {
    const options = ['--input-type=module', '--eval', script];
    execFile(process.execPath, options, (error, stdout) => {
      resolve({ signal: error?.signal ?? null, stdout });
    });
  });
}

test('cancels it, even in the moment before the next bytes are sent', async () => {
  const { signal, stdout } = await run('sent(1); interrupt(); sent(2); await turn();');
  expect({ signal, stdout }).toEqual({ signal: null, stdout: 'cancelled\n' });
});

test('ends the command between two deployments', async () => {
  const { signal, stdout } = await run(
    `sent(9); deployments.progress('box', undefined, cancel); interrupt(); await turn();`,
  );
  expect({ signal, stdout }).toEqual({ signal: 'SIGINT', stdout: '' });
});

test('is left to a listener of the command, where there is one', async () => {
  const { signal, stdout } = await run(
    `process.on('SIGINT', () => console.log('heard'));
     sent(9); deployments.progress('box', undefined, cancel); interrupt(); await turn();`,
  );
  expect({ signal, stdout }).toEqual({ signal: null, stdout: 'heard\n' });
});
