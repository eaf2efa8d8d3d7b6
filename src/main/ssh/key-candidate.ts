/**
 * Public keys to offer a server, and their signer: an agent or a file. Keys that the user
 * named come first, from the agent or from their files; then other keys of the agent, then
 * the default files. OpenSSH offers all keys of the agent before any file, so that a server
 * may end the log-in (MaxAuthTries) before it sees the key that was named.
 */
import ssh2, { type BaseAgent, type ParsedKey, type SigningRequestOptions } from 'ssh2';
import { readKeyFile } from './key-file.ts';
import { messageOf } from './ssh-errors.ts';
import type { SshTarget } from './target.ts';

/** Deadline for an agent to list its keys. */
const AGENT_DEADLINE_MS = 5000;
/** Deadline for an agent to sign; it may ask its user first. */
const AGENT_SIGN_DEADLINE_MS = 120_000;

export type KeyCandidate =
  | {
      readonly kind: 'agent';
      readonly name: string;
      readonly publicKey: ParsedKey;
      readonly agent: BaseAgent;
    }
  | {
      readonly kind: 'file';
      readonly name: string;
      /** The public key; undefined if reading it needs the passphrase. */
      readonly publicKey: ParsedKey | undefined;
      readonly file: string;
      readonly encrypted: boolean;
      readonly text: Buffer;
    };

/** A configured key that could not be offered, and why. */
export interface UnusableKey {
  readonly kind: 'absent' | 'unreadable' | 'unsupported' | 'agent';
  readonly file: string;
  readonly reason: string;
}

export interface KeyCandidates {
  readonly candidates: readonly KeyCandidate[];
  readonly unusable: readonly UnusableKey[];
  /** Whether there is an agent that answers and has no key. */
  readonly emptyAgent: boolean;
}

type FileCandidate = Extract<KeyCandidate, { kind: 'file' }>;

export async function findKeys(target: SshTarget): Promise<KeyCandidates> {
  const files: FileCandidate[] = [];
  const wanted: ParsedKey[] = [];
  const namedKeys: ParsedKey[] = [];
  const want = (file: string, key: ParsedKey): void => {
    wanted.push(key);
    if (!target.defaultIdentities.includes(file)) namedKeys.push(key);
  };
  const unusable: UnusableKey[] = [];
  for (const file of target.identities) {
    const found = readKeyFile(file);
    switch (found.kind) {
      case 'absent':
        unusable.push({ kind: 'absent', file, reason: 'no such file' });
        break;
      case 'unreadable':
      case 'unsupported':
        unusable.push({ kind: found.kind, file, reason: found.reason });
        break;
      case 'public':
        want(file, found.publicKey);
        break;
      case 'key': {
        const { publicKey, encrypted, text } = found;
        if (publicKey !== undefined) want(file, publicKey);
        files.push({ kind: 'file', name: file, publicKey, file, encrypted, text });
        break;
      }
      default:
        found satisfies never;
    }
  }
  const held = await agentKeys(target, unusable);
  const heldAs = (key: ParsedKey): KeyCandidate | undefined =>
    held.find(({ publicKey }) => hasKey([key], publicKey));
  const named: KeyCandidate[] = [];
  for (const key of namedKeys) {
    const candidate =
      heldAs(key) ??
      files.find(
        ({ publicKey }) => publicKey !== undefined && hasKey([key], publicKey),
      );
    if (candidate !== undefined) named.push(candidate);
  }
  const configured = held.filter(({ publicKey }) => hasKey(wanted, publicKey));
  const others = target.identitiesOnly
    ? []
    : held.filter(({ publicKey }) => !hasKey(wanted, publicKey));
  const inAgent = configured.map(({ publicKey }) => publicKey);
  const candidates = new Set<KeyCandidate>([
    ...named,
    ...configured,
    ...others,
    ...files.filter(
      ({ publicKey }) => publicKey === undefined || !hasKey(inAgent, publicKey),
    ),
  ]);
  const hasAgent = target.agent !== undefined && target.agent !== '';
  const failed = unusable.some(({ kind }) => kind === 'agent');
  const emptyAgent = hasAgent && !failed && held.length === 0;
  return { candidates: [...candidates], unusable, emptyAgent };
}

function hasKey(keys: readonly ParsedKey[], key: ParsedKey): boolean {
  return keys.some((one) => one.getPublicSSH().equals(key.getPublicSSH()));
}

/** The agent's keys; an agent that does not answer counts as empty and is reported. */
async function agentKeys(
  target: SshTarget,
  unusable: UnusableKey[],
): Promise<readonly Extract<KeyCandidate, { kind: 'agent' }>[]> {
  if (target.agent === undefined || target.agent === '') return [];
  const agent = ssh2.createAgent(target.agent);
  try {
    const keys = await within<readonly unknown[]>(AGENT_DEADLINE_MS, (done) => {
      agent.getIdentities((error, found) => {
        done(error ?? undefined, found ?? []);
      });
    });
    return keys
      .map((key) =>
        // Types that ssh2 does not know (sk-, certificates) are errors here.
        ssh2.utils.parseKey(key as Buffer),
      )
      .filter((key): key is ParsedKey => !(key instanceof Error))
      .map((publicKey) => ({
        kind: 'agent' as const,
        name: `agent ${publicKey.comment || publicKey.type}`,
        publicKey,
        agent,
      }));
  } catch (error) {
    unusable.push({ kind: 'agent', file: target.agent, reason: messageOf(error) });
    return [];
  }
}

/** The agent's signature over the server's challenge. */
export async function signByAgent(
  agent: BaseAgent,
  key: ParsedKey,
  data: Buffer,
  hash: string | undefined,
): Promise<Buffer> {
  return await within(AGENT_SIGN_DEADLINE_MS, (done) => {
    const options = (hash === undefined ? {} : { hash }) as SigningRequestOptions;
    agent.sign(key, data, options, (error, signature) => {
      done(error ?? undefined, signature as Buffer);
    });
  });
}

function within<T>(
  milliseconds: number,
  start: (done: (error: Error | undefined, value: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`the agent did not answer within ${milliseconds} ms`));
    }, milliseconds);
    start((error, value) => {
      clearTimeout(timer);
      if (error === undefined) resolve(value);
      else reject(error);
    });
  });
}
