/** What only a person can answer while a connection by SSH is made. */

export type UnknownHostReason =
  /** No key of this host is known. */
  | 'unknown'
  /** Keys of this host are known, but none of this type. */
  | 'other-type'
  /** Its known_hosts files have a certificate authority for it, no key. */
  | 'only-authority';

export interface HostKeyQuestion {
  readonly host: string;
  readonly port: number;
  /** As in known_hosts: `ssh-ed25519`, `ssh-rsa`. */
  readonly keyType: string;
  /** As ssh-keygen -l prints it: `SHA256:…`. */
  readonly fingerprint: string;
  readonly reason: UnknownHostReason;
}

export interface SecretsQuestion {
  readonly host: string;
  readonly user: string;
  readonly kind: 'password' | 'passphrase' | 'keyboard-interactive';
  readonly title?: string | undefined;
  readonly instruction?: string | undefined;
  readonly prompts: readonly SecretPrompt[];
}

export interface SecretPrompt {
  readonly text: string;
  /** Whether the answer may be shown while it is typed. */
  readonly echo: boolean;
}

/** `signal`: nobody waits for the answer any more. */
export interface SshQuestions {
  hostKey(
    question: HostKeyQuestion,
    signal?: AbortSignal,
  ): Promise<'accept' | 'refuse'>;
  /** One answer for each prompt; undefined: the user does not want to go on. */
  secrets(
    question: SecretsQuestion,
    signal?: AbortSignal,
  ): Promise<readonly string[] | undefined>;
}

/** A question that waits for its answer in the app. */
export interface OpenQuestion {
  readonly id: number;
  readonly question:
    | ({ readonly type: 'host-key' } & HostKeyQuestion)
    | ({ readonly type: 'secrets' } & SecretsQuestion);
}

/** `refuse`: the user does not want to go on. */
export type QuestionAnswer =
  | { readonly type: 'refuse' }
  | { readonly type: 'accept' }
  | { readonly type: 'secrets'; readonly answers: readonly string[] };
