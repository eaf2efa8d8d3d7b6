/**
 * Passes a shell's output to a page, in order and without loss, as fast as the page accepts
 * it. While nothing is in flight, output is sent at once; otherwise it is gathered until an
 * answer comes or a piece is full. So a key's echo does not wait, and a flood comes in few,
 * full pieces. At most WINDOW characters are unanswered, and one more piece is gathered;
 * then the shell is held back.
 */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Characters. */
export const PIECE = 32_768;
export const WINDOW = 8 * PIECE;

/**
 * @param send settles when the page has processed a piece, or never will
 * @returns resolves when all output has been sent, or the stream was destroyed
 */
export function passOutput(
  output: Readable,
  send: (text: string) => Promise<unknown>,
): Promise<void> {
  return new Promise((resolve) => {
    const decoder = new StringDecoder('utf8');
    let gathered = '';
    let unanswered = 0;
    let over = false;

    const pass = (): void => {
      while (gathered !== '' && maySend()) {
        const text = gathered.slice(0, PIECE);
        gathered = gathered.slice(PIECE);
        unanswered += text.length;
        const answered = (): void => {
          unanswered -= text.length;
          pass();
        };
        send(text).then(answered, answered);
      }
      if (over) {
        if (gathered === '') resolve();
      } else if (gathered.length >= PIECE) {
        output.pause();
      } else {
        output.resume();
      }
    };
    const maySend = (): boolean =>
      unanswered === 0 || (gathered.length >= PIECE && unanswered < WINDOW);
    const end = (): void => {
      if (over) return;
      over = true;
      gathered += decoder.end();
      pass();
    };
    output.on('data', (chunk: Buffer) => {
      gathered += decoder.write(chunk);
      pass();
    });
    // The shell's end gives the reason.
    output.on('end', end).on('error', end).on('close', end);
  });
}
