/**
 * Bytes of a stream as lines of text: joins characters cut between chunks, removes control
 * characters and colours (logs are also read in terminals), and keeps the beginning of a long
 * line.
 */
import { StringDecoder } from 'node:string_decoder';

export interface PrintedLine {
  readonly text: string;
  /** Characters cut off at its end. */
  readonly cut: number;
}

/** Characters of a line. */
export const LONGEST_LINE = 4096;

/* eslint-disable no-control-regex -- control characters are what is looked for */
const SEQUENCE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/* eslint-enable no-control-regex */

export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  /** State of the unfinished line. */
  #begun = '';
  #cut = 0;

  /** @param most lines to return, the newest; the others are only counted */
  split(
    bytes: Buffer,
    most = Infinity,
  ): { readonly lines: readonly PrintedLine[]; readonly skipped: number } {
    const parts = this.#decoder.write(bytes).split('\n');
    const last = parts.pop()!;
    const skipped = Math.max(0, parts.length - most);
    if (skipped > 0) {
      this.#begun = '';
      this.#cut = 0;
    }
    const lines = parts.slice(skipped).flatMap((part) => this.#finish(part));
    this.#grow(last);
    return { lines, skipped };
  }

  /** The last line, if it has no line end. */
  end(): readonly PrintedLine[] {
    return this.#finish(this.#decoder.end());
  }

  #grow(part: string): void {
    const room = LONGEST_LINE - this.#begun.length;
    this.#begun += part.slice(0, room);
    this.#cut += Math.max(0, part.length - room);
  }

  /** Finishes a line. Empty lines say nothing. */
  #finish(part: string): readonly PrintedLine[] {
    this.#grow(part);
    // The last version of a line that overwrites itself, such as a progress bar.
    const drawn = this.#begun.trimEnd().split('\r').at(-1)!;
    const text = drawn.replace(SEQUENCE, '').replace(CONTROL, '').trimEnd();
    const cut = this.#cut;
    this.#begun = '';
    this.#cut = 0;
    return text === '' && cut === 0 ? [] : [{ text, cut }];
  }
}
