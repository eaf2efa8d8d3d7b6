/**
 * The facts about a journal's entry that thinning needs. For iterations, by far the most
 * numerous, they are read from the beginning of the frame's body without decoding the rest.
 * Anything that looks different is decoded.
 */
import { decodeBody } from '../../../shared/protocol/frame.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';

export interface SeenEntry extends Omit<JournalEntry, 'record'> {
  readonly record: Pick<RunRecord, 'type'> & {
    readonly rank?: number | undefined;
    readonly iteration?: number | undefined;
  };
}

/** @throws GradwireError `FRAME_INVALID` */
export function seeEntry(body: Uint8Array): SeenEntry {
  return new Glance(body).iteration() ?? (decodeBody(body) as SeenEntry);
}

/** A short string in MessagePack. */
const text = (value: string): Uint8Array => {
  const bytes = new TextEncoder().encode(value);
  return Uint8Array.of(0xa0 + bytes.length, ...bytes);
};

const SEQUENCE = text('sequence');
const FOLLOWS = text('follows');
const RECORD = text('record');
const TYPE = text('type');
const ITERATION = text('iteration');
const RANK = text('rank');

class Glance {
  readonly #body: Uint8Array;
  #at = 0;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  iteration(): SeenEntry | undefined {
    const keys = this.#map();
    if (keys !== 2 && keys !== 3) return undefined;
    const sequence = this.#number(SEQUENCE);
    const follows = keys === 3 ? this.#number(FOLLOWS) : undefined;
    if (keys === 3 && follows === undefined) return undefined;
    if (!this.#passes(RECORD) || this.#map() === undefined) return undefined;
    if (!this.#passes(TYPE) || !this.#passes(ITERATION)) return undefined;
    const rank = this.#number(RANK);
    const iteration = this.#number(ITERATION);
    if (sequence === undefined || rank === undefined || iteration === undefined) {
      return undefined;
    }
    const record = { type: 'iteration', rank, iteration } as const;
    return follows === undefined ? { sequence, record } : { sequence, follows, record };
  }

  #passes(expected: Uint8Array): boolean {
    for (const byte of expected) {
      if (this.#body[this.#at++] !== byte) return false;
    }
    return true;
  }

  /** A map's number of keys. */
  #map(): number | undefined {
    const head = this.#body[this.#at++] ?? 0;
    if (head >> 4 === 0x8) return head & 0xf;
    return head === 0xde ? this.#unsigned(2) : undefined;
  }

  /** The integer after this key. */
  #number(key: Uint8Array): number | undefined {
    if (!this.#passes(key)) return undefined;
    const head = this.#body[this.#at++] ?? 0xff;
    if (head < 0x80) return head;
    const bytes = { 0xcc: 1, 0xcd: 2, 0xce: 4 }[head];
    return bytes === undefined ? undefined : this.#unsigned(bytes);
  }

  /** Big-endian. */
  #unsigned(bytes: number): number {
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + (this.#body[this.#at++] ?? 0);
    return value;
  }
}
