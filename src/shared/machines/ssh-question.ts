/** Questions that only the user can answer while an SSH connection is being made. */

export type UnknownHostReason =
  /** No key of this host is known. */
  | 'unknown'
  /** Keys of this host are known, but none of this type. */
  | 'other-type'
  /** known_hosts has a certificate authority for it, but no key. */
  | 'only-authority';

export interface HostKeyQuestion {
  readonly host: string;
  /** The host's name in messages: `box (10.0.0.7)`, `the jump host door (10.0.0.8)`. */
  readonly title: string;
  readonly port: number;
  /** The key's type as in known_hosts: `ssh-ed25519`, `ssh-rsa`. */
  readonly keyType: string;
  /** The key's fingerprint as `ssh-keygen -l` prints it: `SHA256:…`. */
  readonly fingerprint: string;
  readonly reason: UnknownHostReason;
}

export interface SecretsQuestion {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly kind: 'password' | 'passphrase' | 'keyboard-interactive';
  /** The host is, or may be, only on the way to the machine. */
  readonly jump?: true | undefined;
  readonly title?: string | undefined;
  readonly instruction?: string | undefined;
  readonly prompts: readonly SecretPrompt[];
}

interface SecretPrompt {
  readonly text: string;
  /** Whether the answer may be shown while it is typed. */
  readonly echo: boolean;
}

/** `signal`: the answer is no longer needed. */
export interface SshQuestions {
  /** Asks about a host's key. If missing, no user can be asked: unknown keys are refused. */
  hostKey?(
    question: HostKeyQuestion,
    signal?: AbortSignal,
  ): Promise<'accept' | 'refuse'>;
  /** One answer for each prompt; undefined if the user declines. */
  secrets(
    question: SecretsQuestion,
    signal?: AbortSignal,
  ): Promise<readonly string[] | undefined>;
}

/** A question waiting for an answer in the app. */
export interface OpenQuestion {
  readonly id: number;
  readonly question:
    | ({ readonly type: 'host-key' } & HostKeyQuestion)
    | ({ readonly type: 'secrets' } & SecretsQuestion);
}

/** `refuse`: the user declines. */
export type QuestionAnswer =
  | { readonly type: 'refuse' }
  | { readonly type: 'accept' }
  | { readonly type: 'secrets'; readonly answers: readonly string[] };
