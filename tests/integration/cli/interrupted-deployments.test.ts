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
    const says = (text) => () => {
      console.log(text);
      process.exit(0);
    };
    const cancel = says('cancelled');
    const sent = (doneBytes) => deployments.progress('box',
      { step: 'upload', package: 'agent', doneBytes, totalBytes: 9 }, cancel);
    const interrupt = () => process.kill(process.pid, 'SIGINT');
    // Where the signal is lost, the process ends by itself.
    setTimeout(() => {}, 60_000);
    ${lines}`;
  return new Promise((resolve) => {
    const options = ['--input-type=module', '--eval', script];
    execFile(process.execPath, options, (error, stdout) => {
      resolve({ signal: error?.signal ?? null, stdout });
    });
  });
}

test('cancels it, even in the moment before the next bytes are sent', async () => {
  const { signal, stdout } = await run('sent(1); interrupt(); sent(2);');
  expect({ signal, stdout }).toEqual({ signal: null, stdout: 'cancelled\n' });
});

test('ends the command between two deployments', async () => {
  const { signal, stdout } = await run(
    `sent(9); deployments.progress('box', undefined, cancel); interrupt();`,
  );
  expect({ signal, stdout }).toEqual({ signal: 'SIGINT', stdout: '' });
});

test('is left to a listener of the command, where there is one', async () => {
  const { signal, stdout } = await run(
    `process.on('SIGINT', says('heard'));
     sent(9); deployments.progress('box', undefined, cancel); interrupt();`,
  );
  expect({ signal, stdout }).toEqual({ signal: null, stdout: 'heard\n' });
});
