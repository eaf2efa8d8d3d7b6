/** What is asked at a real terminal, and what it shows of the answers. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { spawn, type IPty } from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';

test('answers without echo are never shown, whatever was asked before', async () => {
  await using home = new GradwireHome();
  const file = path.join(home.directory, 'answers.json');
  let shown = '';
  const asker: IPty = spawn(
    process.execPath,
    [path.join(import.meta.dirname, 'question-asker.ts'), file],
    { cols: 80, rows: 24 },
  );
  const exited = new Promise<number>((resolve) => {
    asker.onExit(({ exitCode }) => {
      resolve(exitCode);
    });
  });
  asker.onData((data) => {
    shown += data;
  });
  const type = async (prompt: string, answer: string): Promise<void> => {
    await until(
      () => shown,
      (text) => text.includes(prompt),
      prompt,
    );
    asker.write(`${answer}\r`);
  };
  await type('(yes/no)', 'perhaps');
  await type('Type yes or no:', 'yes');
  await type('Code:', '123456');
  await type('Password:', 'correct horse');
  await type('Passphrase:', 'battery staple');
  expect(await exited).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    decision: 'accept',
    answers: ['123456', 'correct horse', 'battery staple'],
  });
  expect(shown).toContain('123456');
  expect(shown).not.toMatch(/correct|horse|battery|staple/);
});
