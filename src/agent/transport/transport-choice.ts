/**
 * Chooses what carries the messages of a rank: `native` on libc's sockets if libc loads,
 * or `tcp` on `node:net`, which works everywhere. Ranks may differ in it: on the wire
 * both are the same.
 */
import { GradwireError } from '../../shared/errors/errors.ts';
import { loadLibc, type Libc } from './libc.ts';

export const TRANSPORT_KINDS = ['tcp', 'native'] as const;
export type TransportKind = (typeof TRANSPORT_KINDS)[number];

export interface ChosenTransport {
  readonly kind: TransportKind;
  /** Functions that `native` uses, for `connectMesh`. */
  readonly libc: Libc | undefined;
  /** Reason that `auto` did not choose `native`, if it did not. */
  readonly fallback: string | undefined;
}

/** @throws GradwireError `NATIVE_UNAVAILABLE`: only if `native` was requested */
export async function chooseTransport(
  wanted: TransportKind | 'auto',
): Promise<ChosenTransport> {
  if (wanted === 'tcp') return { kind: 'tcp', libc: undefined, fallback: undefined };
  try {
    return { kind: 'native', libc: await loadLibc(), fallback: undefined };
  } catch (error) {
    if (wanted === 'native' || !(error instanceof GradwireError)) throw error;
    return { kind: 'tcp', libc: undefined, fallback: error.message };
  }
}
