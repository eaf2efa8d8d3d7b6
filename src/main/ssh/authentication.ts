/**
 * Authenticates the user to one server: asks what it offers, then tries keys,
 * keyboard-interactive and passwords, in OpenSSH's order. Questions are asked only when
 * the server is known to want the answer; if no user can be asked, nothing that needs an
 * answer is tried, so that no phone rings at night.
 */
import type { AnyAuthMethod, AuthenticationType, ParsedKey, Prompt } from 'ssh2';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { PausableDeadline } from './deadline.ts';
import {
  findKeys,
  signByAgent,
  type KeyCandidate,
  type UnusableKey,
} from './key-candidate.ts';
import { missingKeysAdvice, unlockKey } from './key-file.ts';
import { OneKeyAgent } from './one-key-agent.ts';
import { oneAtATime } from './questions.ts';
import type {
  SecretsQuestion,
  SshQuestions,
} from '../../shared/machines/ssh-question.ts';
import type { RememberedSecrets } from './remembered-secrets.ts';
import { messageOf, printable, printableLines } from './ssh-errors.ts';
import { placeOf, type SshTarget } from './target.ts';
import { NOT_SUPPORTED, unusableKey } from './unusable-key.ts';

/** Attempts at a password or a passphrase: as many as OpenSSH allows. */
const ATTEMPTS = 3;

export interface AuthenticationContext {
  /** Asks the user; undefined if nobody can be asked. */
  readonly questions: SshQuestions | undefined;
  readonly secrets: RememberedSecrets;
  /** Whether the server is only on the way to the machine. */
  readonly jump: boolean;
  readonly deadline: PausableDeadline;
  readonly signal: AbortSignal;
  /** Ends the connection at once, with this reason. */
  readonly giveUp: (error: unknown) => void;
}

type SecretKind = SecretsQuestion['kind'];

const NEEDED: Readonly<Record<SecretKind, string>> = {
  password: 'a password',
  passphrase: 'a passphrase',
  'keyboard-interactive': 'answers to its prompts',
};

/** PAM's prompt if it wants only a password. */
export const ASKS_FOR_PASSWORD = /^(\S+'s )?password:?\s*$/i;

export class Authentication {
  readonly #target: SshTarget;
  readonly #place: string;
  readonly #context: AuthenticationContext;
  readonly #attempts: AsyncGenerator<AnyAuthMethod, undefined, undefined>;
  /** The methods that the server accepts next. */
  #offered: readonly string[] = [];
  readonly #tried: string[] = [];
  #unusable: readonly UnusableKey[] = [];
  #emptyAgent = false;
  /** Questions that would have been needed. */
  readonly #unasked = new Set<SecretKind>();
  /** A password that was sent; kept once the server accepts the log-in. */
  #sentPassword: string | undefined;
  /** Rounds of questions in this attempt by keyboard-interactive. */
  #prompts = 0;

  constructor(target: SshTarget, context: AuthenticationContext) {
    this.#target = target;
    this.#place = placeOf(target);
    this.#context = context;
    this.#attempts = this.#walk();
  }

  /** ssh2's authHandler: called at the start and after each refusal. */
  readonly next = (
    methodsLeft: readonly AuthenticationType[] | null,
    _partialSuccess: boolean | null,
    reply: (method: AnyAuthMethod | false) => void,
  ): void => {
    if (methodsLeft !== null) this.#offered = methodsLeft;
    this.#attempts.next().then(
      ({ value }) => {
        if (!this.#context.signal.aborted) reply(value ?? false);
      },
      (error: unknown) => {
        this.#context.giveUp(error);
      },
    );
  };

  /** The server has let the user in. */
  succeeded(): void {
    if (this.#sentPassword === undefined) return;
    this.#context.secrets.keepPassword(this.#place, this.#sentPassword);
    this.#sentPassword = undefined;
  }

  /** Named keys that could not be used: another one may let the user in without them. */
  get notices(): readonly string[] {
    const usual = this.#target.defaultIdentities;
    return this.#unusable
      .filter(({ kind, file }) => kind !== 'agent' && !usual.includes(file))
      .map(({ kind, file, reason }) => {
        const why = kind === 'unsupported' ? `${NOT_SUPPORTED} ${reason}` : reason;
        return `the key ${file} was not offered: ${why}`;
      });
  }

  /** The error if the log-in failed. */
  failed(): GradwireError {
    const place = this.#place;
    const offers = printable(this.#offered.join(', ')) || 'nothing';
    if (this.#unasked.size > 0) {
      return failure(
        'SSH_AUTH_NEEDED',
        `the log-in needs ${[...this.#unasked].map((kind) => NEEDED[kind]).join(' or ')}, but Gradwire cannot prompt for input now${this.#whyUnusable}`,
        {
          place,
          next: `Connect from the window or a terminal, or load the key into an agent.${this.#agentAdvice}`,
        },
      );
    }
    const keysTried = this.#tried.some((what) => what.startsWith('publickey'));
    const broken = this.#unusable.filter(({ kind }) => kind !== 'absent');
    if (!keysTried && this.#offered.includes('publickey') && broken.length > 0) {
      return unusableKey(broken[0]!, place);
    }
    const tried =
      this.#tried.length === 0 ? 'nothing to try' : `tried ${this.#tried.join(', ')}`;
    const missing = this.#unusable.filter(({ kind }) => kind === 'absent');
    return failure(
      'SSH_AUTH_FAILED',
      `the server accepts ${offers} for ${this.#target.user}; ${tried}${this.#whyUnusable}`,
      {
        place,
        next: this.#offered.includes('publickey')
          ? (missingKeysAdvice(missing.map(({ file }) => file)) ??
            `Check the user name, and that the public key is in ~/.ssh/authorized_keys there.${this.#agentAdvice}`)
          : 'Check the user name, and which login methods the machine allows.',
      },
    );
  }

  /** A locked agent answers as one without keys does. */
  get #agentAdvice(): string {
    return this.#emptyAgent
      ? ' The SSH agent shows no keys: it may be locked (ssh-add -X unlocks it).'
      : '';
  }

  get #whyUnusable(): string {
    const why = this.#unusable.map(({ file, reason }) => `${file}: ${reason}`);
    return why.length === 0 ? '' : ` (${printable(why.join('; '))})`;
  }

  async *#walk(): AsyncGenerator<AnyAuthMethod, undefined, undefined> {
    const username = this.#target.user;
    const none: AnyAuthMethod = { type: 'none', username };
    yield none;
    if (this.#offered.includes('publickey')) {
      const { candidates, unusable, emptyAgent } = await this.#context.deadline.during(
        findKeys(this.#target),
      );
      this.#unusable = unusable;
      this.#emptyAgent = emptyAgent;
      for (const candidate of candidates) {
        if (!this.#offered.includes('publickey')) break;
        const attempt = await this.#keyAttempt(candidate);
        if (attempt === undefined) continue;
        yield attempt.method;
        // A server that accepted the signature but still refuses wants something more.
        // ssh2 does not report what remains after an agent's key, so the server is asked
        // again.
        if (attempt.signed()) yield none;
      }
    }
    for (let round = 0; round < ATTEMPTS; round++) {
      if (!this.#offered.includes('keyboard-interactive')) break;
      if (this.#context.questions === undefined && !this.#passwordWillDo()) {
        this.#unasked.add('keyboard-interactive');
        break;
      }
      this.#tried.push('keyboard-interactive');
      this.#prompts = 0;
      yield { type: 'keyboard-interactive', username, prompt: this.#prompt };
      this.#forgetPassword();
    }
    for (let round = 0; round < ATTEMPTS; round++) {
      if (!this.#offered.includes('password')) break;
      const password = await this.#password(round);
      if (password === undefined) break;
      this.#tried.push('password');
      this.#sentPassword = password;
      yield { type: 'password', username, password };
      this.#forgetPassword();
    }
    return undefined;
  }

  /** One key as its own agent, which signs once the server accepts the key. */
  async #keyAttempt(
    candidate: KeyCandidate,
  ): Promise<
    { readonly method: AnyAuthMethod; readonly signed: () => boolean } | undefined
  > {
    let unlocked: ParsedKey | undefined;
    if (candidate.kind === 'file' && candidate.encrypted) {
      const { questions, secrets } = this.#context;
      if (questions === undefined && secrets.passphrase(candidate.file) === undefined) {
        this.#unasked.add('passphrase');
        return undefined;
      }
      if (candidate.publicKey === undefined) unlocked = await this.#unlock(candidate);
    }
    const publicKey = candidate.publicKey ?? unlocked;
    if (publicKey === undefined) return undefined;
    this.#tried.push(`publickey (${candidate.name})`);
    let signed = false;
    const sign = async (data: Buffer, hash: string | undefined): Promise<Buffer> => {
      signed = true;
      if (candidate.kind === 'agent') {
        return await this.#context.deadline.during(
          signByAgent(candidate.agent, publicKey, data, hash),
        );
      }
      unlocked ??= await this.#unlock(candidate);
      if (unlocked === undefined) throw new Error('wrong passphrase');
      const signature: unknown = unlocked.sign(data, hash);
      if (signature instanceof Error) throw signature;
      return signature as Buffer;
    };
    const agent = new OneKeyAgent(publicKey, sign, (error) => {
      if (error instanceof GradwireError) this.#context.giveUp(error);
      this.#tried.push(`signing failed: ${messageOf(error)}`);
    });
    return {
      method: { type: 'agent', username: this.#target.user, agent },
      signed: () => signed,
    };
  }

  /** The key of an encrypted file; undefined if its passphrase was not given. */
  async #unlock({
    file,
    text,
    encrypted,
  }: Extract<KeyCandidate, { kind: 'file' }>): Promise<ParsedKey | undefined> {
    if (!encrypted) return unlockKey(text);
    const { secrets } = this.#context;
    const remembered = secrets.passphrase(file);
    if (remembered !== undefined) {
      const key = unlockKey(text, remembered);
      if (key !== undefined) return key;
    }
    for (let round = 0; round < ATTEMPTS; round++) {
      const answers = await this.#ask({
        kind: 'passphrase',
        ...(round === 0 ? {} : { instruction: 'That passphrase was wrong.' }),
        prompts: [{ text: `Passphrase for key ${file}:`, echo: false }],
      });
      const key = unlockKey(text, answers[0]);
      if (key === undefined) continue;
      secrets.keepPassphrase(file, answers[0]!);
      return key;
    }
    this.#tried.push(`wrong passphrase for ${file}`);
    return undefined;
  }

  async #password(round: number): Promise<string | undefined> {
    const remembered = this.#context.secrets.password(this.#place);
    if (remembered !== undefined) return remembered;
    if (this.#context.questions === undefined) {
      this.#unasked.add('password');
      return undefined;
    }
    const answers = await this.#ask({
      kind: 'password',
      ...(round === 0 ? {} : { instruction: 'That password was refused.' }),
      prompts: [{ text: `Password for ${this.#place}:`, echo: false }],
    });
    return answers[0];
  }

  /**
   * Whether a password was enough at the last log-in, and the server asks for it only by
   * keyboard-interactive.
   */
  #passwordWillDo(): boolean {
    return (
      !this.#offered.includes('password') &&
      this.#context.secrets.password(this.#place) !== undefined
    );
  }

  /** The server has refused it: another attempt with it could lock the account. */
  #forgetPassword(): void {
    if (this.#sentPassword === undefined) return;
    this.#sentPassword = undefined;
    this.#context.secrets.forgetPassword(this.#place);
  }

  /** A round of keyboard-interactive; a server may have several. */
  readonly #prompt = (
    title: string,
    instruction: string,
    _language: string,
    prompts: readonly Prompt[],
    finish: (answers: string[]) => void,
  ): void => {
    this.#answers(title, instruction, prompts).then(
      (answers) => {
        finish([...answers]);
      },
      (error: unknown) => {
        this.#context.giveUp(error);
      },
    );
  };

  async #answers(
    title: string,
    instruction: string,
    prompts: readonly Prompt[],
  ): Promise<readonly string[]> {
    const [only, ...others] = prompts;
    // A password is remembered only if nothing else was asked: a code works only once.
    const alone =
      ++this.#prompts === 1 &&
      others.length === 0 &&
      only?.echo !== true &&
      ASKS_FOR_PASSWORD.test(only?.prompt ?? '');
    if (!alone) this.#sentPassword = undefined;
    if (this.#context.questions === undefined) {
      const password = this.#context.secrets.password(this.#place);
      if (alone && password !== undefined) {
        this.#sentPassword = password;
        return [password];
      }
      this.#unasked.add('keyboard-interactive');
      throw this.failed();
    }
    const answers = await this.#ask({
      kind: 'keyboard-interactive',
      title: printableLines(title),
      instruction: printableLines(instruction),
      prompts: prompts.map(({ prompt, echo }) => ({
        text: printableLines(prompt),
        echo: echo ?? false,
      })),
    });
    if (alone) this.#sentPassword = answers[0];
    return answers;
  }

  /** @throws GradwireError `SSH_AUTH_CANCELLED` */
  async #ask(
    question: Omit<SecretsQuestion, 'host' | 'port' | 'user' | 'jump'>,
  ): Promise<readonly string[]> {
    const { questions, deadline, signal, jump } = this.#context;
    const { host, port, user } = this.#target;
    const whose = { host, port, user, ...(jump ? { jump } : {}) };
    const answers = await deadline.during(
      oneAtATime(questions!).secrets({ ...whose, ...question }, signal),
    );
    if (answers === undefined) {
      throw failure('SSH_AUTH_CANCELLED', `the ${question.kind} prompt was cancelled`, {
        place: this.#place,
        next: 'Connect again when you have it.',
      });
    }
    return answers;
  }
}
