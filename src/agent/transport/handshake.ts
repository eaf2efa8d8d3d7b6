/**
 * The handshake of `handshake-proof.ts` on a socket. Anything but the expected message
 * ends the connection: an impostor costs the run one socket for at most a few seconds. No
 * byte beyond the handshake is read from the socket.
 * Upholds invariant I15 (docs/architecture.md).
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { failure } from '../../shared/errors/errors.ts';
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
  type Introduction,
  type RunIdentity,
} from './handshake-proof.ts';

/** Bytes that each side of an established connection has sent for the handshake. */
export const DIALER_BYTES = HANDSHAKE_BYTES.hello + HANDSHAKE_BYTES.answer;
export const ACCEPTOR_BYTES = HANDSHAKE_BYTES.challenge + HANDSHAKE_BYTES.welcome;

/**
 * Introduces this rank to the rank that listens at the other end. Returns what both now
 * know of each other, including nonces; undefined if the other end closed the connection
 * without a word, as a rank does that too many strangers have called.
 * @throws GradwireError `PEER_UNAUTHENTICATED`
 */
export async function dial(
  socket: Socket,
  run: RunIdentity,
  rank: number,
  peer: number,
): Promise<Introduction | undefined> {
  const dialerNonce = randomBytes(NONCE_BYTES);
  socket.write(encodeHello(rank, peer, dialerNonce));
  const challengeBytes = await readExactly(socket, HANDSHAKE_BYTES.challenge);
  if (challengeBytes === undefined && socket.bytesRead === 0) return undefined;
  const challenge = challengeBytes && decodeChallenge(challengeBytes);
  if (challenge === undefined) {
    throw unanswered(peer);
  }
  const introduction = {
    dialer: rank,
    acceptor: peer,
    dialerNonce,
    acceptorNonce: challenge.nonce,
  };
  if (!proofsEqual(challenge.proof, proofOf('acceptor', run, introduction))) {
    throw unauthenticated(peer, 'did not prove that it knows this run’s secret');
  }
  socket.write(encodeAnswer(proofOf('dialer', run, introduction)));
  const welcome = await readExactly(socket, HANDSHAKE_BYTES.welcome);
  if (welcome === undefined || !isWelcome(welcome)) {
    throw unauthenticated(peer, `refused rank ${rank}`);
  }
  return introduction;
}

/** Reason that a connection is not one of the run. */
export type Refusal = { readonly refused: string };

/**
 * Finds out which rank has connected. `admit` says whether that rank is awaited. Never
 * rejects: a refusal closes the socket and says why.
 */
export async function accept(
  socket: Socket,
  run: RunIdentity,
  rank: number,
  options: {
    readonly limitMs: number;
    readonly admit: (peer: number) => boolean;
  },
): Promise<Introduction | Refusal> {
  const timer = setTimeout(() => socket.destroy(), options.limitMs);
  const refuse = (refused: string): Refusal => {
    socket.destroy();
    return { refused };
  };
  try {
    const helloBytes = await readExactly(socket, HANDSHAKE_BYTES.hello);
    if (helloBytes === undefined)
      return refuse('sent nothing, or only part of a greeting');
    const hello = decodeHello(helloBytes);
    if (hello === undefined) return refuse('did not come from a rank');
    if (hello.acceptor !== rank) return refuse(`was meant for rank ${hello.acceptor}`);
    const introduction = {
      dialer: hello.dialer,
      acceptor: rank,
      dialerNonce: hello.nonce,
      acceptorNonce: randomBytes(NONCE_BYTES),
    };
    const proof = proofOf('acceptor', run, introduction);
    socket.write(encodeChallenge(introduction.acceptorNonce, proof));
    const answerBytes = await readExactly(socket, HANDSHAKE_BYTES.answer);
    const answer = answerBytes && decodeAnswer(answerBytes);
    if (answer === undefined) return refuse('disconnected before authenticating');
    if (!proofsEqual(answer, proofOf('dialer', run, introduction))) {
      return refuse('does not know this run’s secret');
    }
    if (!options.admit(hello.dialer))
      return refuse(`came from a second rank ${hello.dialer}`);
    socket.write(encodeWelcome());
    return introduction;
  } finally {
    clearTimeout(timer);
  }
}

/** The next `bytes` bytes; undefined if the socket ends before them. */
function readExactly(socket: Socket, bytes: number): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const settle = (result: Buffer | undefined): void => {
    socket.off('readable', attempt);
    socket.off('end', give);
    socket.off('close', give);
    resolve(result);
  };
  const attempt = (): void => {
    const read = socket.read(bytes) as Buffer | null;
    // At its end a stream returns what it has, even if that is less.
    if (read !== null) settle(read.length === bytes ? read : undefined);
  };
  const give = (): void => {
    settle(undefined);
  };
  socket.on('readable', attempt);
  socket.on('end', give);
  socket.on('close', give);
  if (socket.destroyed) give();
  else attempt();
  return promise;
}

export const unanswered = (peer: number): Error =>
  unauthenticated(peer, 'did not answer like a rank of this run');

function unauthenticated(peer: number, what: string): Error {
  return failure('PEER_UNAUTHENTICATED', `rank ${peer} ${what}`, {
    rank: peer,
    next: 'Another process may have taken its port, the ranks may belong to different runs, or only one of them encrypts.',
  });
}
