/**
 * The check of one server's key in one handshake: looks it up, lets `decideHostKey` decide,
 * and asks if necessary. An accepted key is saved only after the handshake, because the
 * server shows its key before it proves that the key is its own.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import { decideHostKey } from './host-keys/host-key-decision.ts';
import {
  fingerprintOf,
  orderAlgorithms,
  parseHostKey,
  type HostKey,
  type HostKeyAlgorithm,
} from './host-keys/host-key.ts';
import { readKnownHosts, rememberHostKey } from './host-keys/known-hosts-files.ts';
import { readRevokedKeys } from './host-keys/revoked-keys.ts';
import {
  knownTypes,
  serverNames,
  standingOf,
  type KnownHosts,
  type ServerNames,
} from './host-keys/known-hosts.ts';
import { oneAtATime } from './questions.ts';
import type { SshQuestions } from '../../shared/machines/ssh-question.ts';
import { hostKeyRefused } from './ssh-errors.ts';
import { hopText, placeOf, type SshTarget } from './target.ts';

export interface HostKeyOptions {
  /** Our own known_hosts file, which receives accepted keys. */
  readonly acceptedHostKeys?: string | undefined;
  /** Fingerprints that the user has named. */
  readonly confirmedHostKeys?: readonly string[] | undefined;
  /** Whether the host is only on the way to the machine. */
  readonly jump?: boolean | undefined;
}

export class HostKeyCheck {
  /** The algorithms to offer, so that the server shows a key of a known type. */
  readonly algorithms: readonly HostKeyAlgorithm[];
  readonly #target: SshTarget;
  readonly #options: HostKeyOptions;
  readonly #names: ServerNames;
  readonly #known: KnownHosts;
  #accepted: HostKey | undefined;
  #toRemember: HostKey | undefined;

  constructor(target: SshTarget, options: HostKeyOptions) {
    this.#target = target;
    this.#options = options;
    this.#names = serverNames(target.host, target.port, target.hostKeyAlias);
    const own = options.acceptedHostKeys;
    this.#known = readKnownHosts([
      ...(own === undefined ? [] : [own]),
      ...target.userKnownHosts,
      ...target.globalKnownHosts,
    ]);
    this.algorithms = orderAlgorithms(knownTypes(this.#names, this.#known.entries));
  }

  /** Lines of known_hosts files that were not understood. */
  get notices(): readonly string[] {
    return this.#known.skipped.map(({ place, reason }) => `${place}: ${reason}`);
  }

  /** Whether a key of the server has been accepted: this is not the first exchange. */
  get hasAccepted(): boolean {
    return this.#accepted !== undefined;
  }

  /**
   * The check where the session's keys are renewed, by volume or every hour: the server's
   * own key must be the accepted one. It answers in the same turn, because ssh2 mixes up
   * what is sent between the renewal and a late answer.
   */
  verifyAgain(blob: Buffer): GradwireError | undefined {
    if (this.#accepted?.blob.equals(blob) === true) return undefined;
    const key = parseHostKey(blob);
    const shown = key === undefined ? 'key' : `${key.type} key ${fingerprintOf(key)}`;
    const host = hopText(this.#target, this.#options.jump === true);
    return failure(
      'HOST_KEY_CHANGED',
      `${host} presents a ${shown} within a connection that began with a different one: someone may be intercepting it`,
      {
        place: placeOf(this.#target),
        next: 'Do not connect. Tell the machine’s administrator.',
      },
    );
  }

  /**
   * Resolves if the key is accepted in the first exchange.
   * @throws GradwireError `HOST_KEY_…`
   */
  async verify(
    blob: Buffer,
    questions: SshQuestions | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const key = parseHostKey(blob);
    if (key === undefined) {
      throw failure(
        'SSH_PROTOCOL',
        'the server presents a host key of an unknown type',
        {
          place: placeOf(this.#target),
        },
      );
    }
    const shown = { keyType: key.type, fingerprint: fingerprintOf(key) };
    const isJump = this.#options.jump === true;
    const { revokedHostKeys } = this.#target;
    const revoked =
      revokedHostKeys === undefined
        ? []
        : readRevokedKeys(revokedHostKeys, placeOf(this.#target));
    const entries = [...revoked, ...this.#known.entries];
    const standing = standingOf(key, this.#names, entries);
    const decision = decideHostKey({
      checking: this.#target.strictHostKeyChecking,
      standing: standing.kind,
      confirmed: this.#options.confirmedHostKeys?.includes(shown.fingerprint) ?? false,
      interactive: questions?.hostKey !== undefined,
    });
    const known = 'place' in standing ? standing.place : undefined;
    switch (decision.action) {
      case 'accept':
        break;
      case 'accept-and-remember':
        this.#toRemember = key;
        break;
      case 'refuse':
        throw hostKeyRefused(decision.code, this.#target, { ...shown, known, isJump });
      case 'ask': {
        const { host, port } = this.#target;
        const answer = await oneAtATime(questions!).hostKey(
          {
            host,
            port,
            title: hopText(this.#target, isJump),
            ...shown,
            reason: decision.reason,
          },
          signal,
        );
        if (answer !== 'accept') {
          throw failure('HOST_KEY_REFUSED', `you did not accept the key of ${host}`, {
            place: placeOf(this.#target),
            next: 'Connect again once you have compared its fingerprint.',
          });
        }
        this.#toRemember = key;
        break;
      }
      default:
        decision satisfies never;
    }
    this.#accepted = key;
  }

  /**
   * The server has proved its key: saves it if so decided.
   * @throws GradwireError `HOST_KEY_NOT_SAVED`
   */
  proved(): void {
    const key = this.#toRemember;
    this.#toRemember = undefined;
    if (key === undefined || this.#options.acceptedHostKeys === undefined) return;
    rememberHostKey(this.#options.acceptedHostKeys, this.#names.name, key);
  }
}
