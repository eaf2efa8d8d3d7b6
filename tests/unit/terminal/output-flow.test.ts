/** What goes to a page at once, what is gathered, and when the shell is held back. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { passOutput, PIECE, WINDOW } from '../../../src/main/terminal/output-flow.ts';

function flow() {
  const output = new PassThrough({ highWaterMark: PIECE });
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const over = passOutput(output, (text) => {
    sent.push(text);
    return new Promise<void>((resolve) => answers.push(resolve));
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async () => {
    answers.shift()?.();
    await turn();
  };
  return { output, sent, answer, over, turn };
}

test('the first bytes go at once, those behind them with the answer', async () => {
  const { output, sent, answer, over, turn } = flow();
  output.write('a');
  await turn();
  expect(sent).toEqual(['a']);
  for (const text of ['b', 'c', 'd']) output.write(text);
  await turn();
  expect(sent).toEqual(['a']);
  await answer();
  expect(sent).toEqual(['a', 'bcd']);
  output.end('e');
  await turn();
  await answer();
  await over;
  expect(sent).toEqual(['a', 'bcd', 'e']);
});

test('a character that is cut between chunks is one', async () => {
  const { output, sent, answer, over, turn } = flow();
  const bytes = Buffer.from('…é');
  for (const byte of bytes) {
    output.write(Buffer.from([byte]));
    await turn();
    await answer();
  }
  output.end(Buffer.from([0xe2]));
  await turn();
  await answer();
  await over;
  expect(sent.join('')).toBe('…é\uFFFD');
});

test('a page that does not answer holds the shell back', async () => {
  const { output, sent, answer, turn } = flow();
  let written = 0;
  while (output.write(Buffer.alloc(PIECE, 'x'))) {
    written += PIECE;
    await turn();
    if (written > 10 * WINDOW) break;
  }
  const unanswered = sent.join('').length;
  expect(output.isPaused()).toBe(true);
  expect(unanswered).toBeGreaterThanOrEqual(WINDOW);
  expect(unanswered).toBeLessThanOrEqual(WINDOW + PIECE);
  await answer();
  await answer();
  expect(sent.join('').length).toBeGreaterThan(unanswered);
});
