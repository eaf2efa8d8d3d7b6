/** What is asked at a real terminal, and what it shows of the answers. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { spawn } from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';

/** The process that asks, with the terminal's text and its keys. */
function askAt(file: string) {
  let shown = '';
  const asker = spawn(
    process.execPath,
    [path.join(import.meta.dirname, 'question-asker.ts'), file],
    { cols: 80, rows: 24 },
  );
  const ended = new Promise<{ exitCode: number }>((resolve) => {
    asker.onExit(resolve);
  });
  asker.onData((data) => {
    shown += data;
  });
  const type = async (prompt: string, keys: string): Promise<void> => {
    await until(
      () => shown,
      (text) => text.includes(prompt),
      prompt,
    );
    asker.write(keys);
  };
  return { ended, type, shown: () => shown };
}

test('answers without echo are never shown, whatever was asked before', async () => {
  await using home = new GradwireHome();
  const file = path.join(home.directory, 'answers.json');
  const { ended, type, shown } = askAt(file);
  await type('(yes/no)', 'perhaps\r');
  await type('Type yes or no:', 'yes\r');
  await type('Code:', '123456\r');
  await type('Password:', 'correct horse\r');
  await type('Passphrase:', 'battery staple\r');
  expect(await ended).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    decision: 'accept',
    answers: ['123456', 'correct horse', 'battery staple'],
  });
  expect(shown()).toContain('123456');
  expect(shown()).not.toMatch(/correct|horse|battery|staple/);
});

test('Ctrl-C at a question ends the command by its signal, and answers nothing', async () => {
  await using home = new GradwireHome();
  const file = path.join(home.directory, 'answers.json');
  const { ended, type, shown } = askAt(file);
  await type('(yes/no)', 'yes\r');
  await type('Code:', '\u0003');
  expect(await ended).toMatchObject({ exitCode: 130 });
  expect(shown()).not.toContain('ABORTED');
  expect(existsSync(file)).toBe(false);
});
