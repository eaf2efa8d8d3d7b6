import { describe, expect, test } from 'vitest';
import {
  decodeAnswer,
  decodeChallenge,
  decodeHello,
  encodeAnswer,
  encodeChallenge,
  encodeHello,
  encodeWelcome,
  HANDSHAKE_BYTES,
  isWelcome,
  NONCE_BYTES,
  proofOf,
  proofsEqual,
} from '../../../src/agent/transport/handshake-proof.ts';

const run = { runId: 'r1', size: 4, secret: Buffer.alloc(32, 1) };
const nonces = {
  dialerNonce: Buffer.alloc(NONCE_BYTES, 2),
  acceptorNonce: Buffer.alloc(NONCE_BYTES, 3),
};
const introduction = { dialer: 2, acceptor: 1, ...nonces };

describe('a proof', () => {
  const proof = proofOf('dialer', run, introduction);

  test('is the same on both sides', () => {
    expect(proofsEqual(proof, proofOf('dialer', { ...run }, { ...introduction }))).toBe(
      true,
    );
  });

  test.each([
    ['role', proofOf('acceptor', run, introduction)],
    [
      'secret',
      proofOf('dialer', { ...run, secret: Buffer.alloc(32, 9) }, introduction),
    ],
    ['run', proofOf('dialer', { ...run, runId: 'r2' }, introduction)],
    ['world size', proofOf('dialer', { ...run, size: 5 }, introduction)],
    ['dialer', proofOf('dialer', run, { ...introduction, dialer: 3 })],
    ['acceptor', proofOf('dialer', run, { ...introduction, acceptor: 0 })],
    [
      'dialer’s nonce',
      proofOf('dialer', run, { ...introduction, dialerNonce: Buffer.alloc(32) }),
    ],
    [
      'acceptor’s nonce',
      proofOf('dialer', run, { ...introduction, acceptorNonce: Buffer.alloc(32) }),
    ],
  ])('is no good for another %s', (_, other) => {
    expect(proofsEqual(proof, other)).toBe(false);
  });
});

describe('handshake messages', () => {
  const proof = Buffer.alloc(32, 5);
  const messages = {
    hello: encodeHello(2, 1, nonces.dialerNonce),
    challenge: encodeChallenge(nonces.acceptorNonce, proof),
    answer: encodeAnswer(proof),
    welcome: encodeWelcome(),
  };

  test('have their fixed sizes and keep what they say', () => {
    for (const [kind, bytes] of Object.entries(messages)) {
      expect(bytes).toHaveLength(HANDSHAKE_BYTES[kind as keyof typeof messages]);
    }
    expect(decodeHello(messages.hello)).toEqual({
      dialer: 2,
      acceptor: 1,
      nonce: nonces.dialerNonce,
    });
    expect(decodeChallenge(messages.challenge)).toEqual({
      nonce: nonces.acceptorNonce,
      proof,
    });
    expect(decodeAnswer(messages.answer)).toEqual(proof);
    expect(isWelcome(messages.welcome)).toBe(true);
  });

  test('with any prefix byte changed are not understood', () => {
    const readers = {
      hello: decodeHello,
      challenge: decodeChallenge,
      answer: decodeAnswer,
      welcome: (bytes: Buffer) => isWelcome(bytes) || undefined,
    };
    for (const [kind, read] of Object.entries(readers)) {
      for (let offset = 0; offset < 8; offset++) {
        const bytes = Buffer.from(messages[kind as keyof typeof messages]);
        bytes.writeUInt8(bytes.readUInt8(offset) ^ 0x40, offset);
        expect(read(bytes)).toBeUndefined();
      }
    }
  });
});
