/**
 * The messages by which two ranks prove to each other that they belong to one run. Each
 * side proves knowledge of the run's secret with HMAC-SHA-256 over its role, the run, the
 * world, both ranks, both nonces and whether they will encrypt; neither sends anything
 * from which the other could learn it, and no proof is valid for another connection, role
 * or run.
 *
 *     dialer                                acceptor
 *     hello: ranks, nonce          ────►
 *                                  ◄────    challenge: nonce, the acceptor's proof
 *     answer: the dialer's proof   ────►
 *                                  ◄────    welcome
 *
 * All messages have a fixed size and begin with magic, version and kind. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const NONCE_BYTES = 32;
const PROOF_BYTES = 32;
const PREFIX_BYTES = 8;
const MAGIC = 0x48575747;
const VERSION = 1;

const KINDS = { hello: 1, challenge: 2, answer: 3, welcome: 4 } as const;
export type HandshakeKind = keyof typeof KINDS;

export const HANDSHAKE_BYTES: Readonly<Record<HandshakeKind, number>> = {
  hello: PREFIX_BYTES + 8 + NONCE_BYTES,
  challenge: PREFIX_BYTES + NONCE_BYTES + PROOF_BYTES,
  answer: PREFIX_BYTES + PROOF_BYTES,
  welcome: PREFIX_BYTES,
};

/** Facts that both sides must have in common. */
export interface RunIdentity {
  readonly runId: string;
  readonly size: number;
  readonly secret: Uint8Array;
  /** Whether the data after the handshake is encrypted; both sides must agree. */
  readonly encrypted?: boolean | undefined;
}

/** The ranks and nonces of one connection. */
export interface Introduction {
  readonly dialer: number;
  readonly acceptor: number;
  readonly dialerNonce: Buffer;
  readonly acceptorNonce: Buffer;
}

export function proofOf(
  role: 'dialer' | 'acceptor',
  run: RunIdentity,
  introduction: Introduction,
): Buffer {
  const runId = Buffer.from(run.runId);
  const numbers = Buffer.alloc(16);
  numbers.writeUInt32LE(runId.length, 0);
  numbers.writeUInt32LE(run.size, 4);
  numbers.writeUInt32LE(introduction.dialer, 8);
  numbers.writeUInt32LE(introduction.acceptor, 12);
  const plane = run.encrypted === true ? 'encrypted data plane' : 'data plane';
  return createHmac('sha256', run.secret)
    .update(`gradwire ${plane} ${VERSION} ${role}\n`)
    .update(numbers)
    .update(runId)
    .update(introduction.dialerNonce)
    .update(introduction.acceptorNonce)
    .digest();
}

/** Constant-time. */
export function proofsEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

export function encodeHello(dialer: number, acceptor: number, nonce: Buffer): Buffer {
  const ranks = Buffer.alloc(8);
  ranks.writeUInt32LE(dialer, 0);
  ranks.writeUInt32LE(acceptor, 4);
  return message('hello', ranks, nonce);
}

export function decodeHello(
  bytes: Buffer,
): { dialer: number; acceptor: number; nonce: Buffer } | undefined {
  const body = bodyOf('hello', bytes);
  return (
    body && {
      dialer: body.readUInt32LE(0),
      acceptor: body.readUInt32LE(4),
      nonce: body.subarray(8),
    }
  );
}

export function encodeChallenge(nonce: Buffer, proof: Buffer): Buffer {
  return message('challenge', nonce, proof);
}

export function decodeChallenge(
  bytes: Buffer,
): { nonce: Buffer; proof: Buffer } | undefined {
  const body = bodyOf('challenge', bytes);
  return (
    body && { nonce: body.subarray(0, NONCE_BYTES), proof: body.subarray(NONCE_BYTES) }
  );
}

export function encodeAnswer(proof: Buffer): Buffer {
  return message('answer', proof);
}

export function decodeAnswer(bytes: Buffer): Buffer | undefined {
  return bodyOf('answer', bytes);
}

export function encodeWelcome(): Buffer {
  return message('welcome');
}

export function isWelcome(bytes: Buffer): boolean {
  return bodyOf('welcome', bytes) !== undefined;
}

function message(kind: HandshakeKind, ...parts: readonly Buffer[]): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(MAGIC, 0);
  prefix.writeUInt8(VERSION, 4);
  prefix.writeUInt8(KINDS[kind], 5);
  return Buffer.concat([prefix, ...parts], HANDSHAKE_BYTES[kind]);
}

/** The bytes after the prefix; undefined if it is not a message of that kind. */
function bodyOf(kind: HandshakeKind, bytes: Buffer): Buffer | undefined {
  const fits =
    bytes.length === HANDSHAKE_BYTES[kind] &&
    bytes.readUInt32LE(0) === MAGIC &&
    bytes.readUInt8(4) === VERSION &&
    bytes.readUInt8(5) === KINDS[kind] &&
    bytes.readUInt16LE(6) === 0;
  return fits ? bytes.subarray(PREFIX_BYTES) : undefined;
}
