/**
 * Answers the questions of `ssh`: from remembered secrets, by the policy for host keys,
 * or by asking the user as the built-in client does. If no user can be asked, a
 * question that matters ends the attempt: `ssh` would send an empty password instead.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type {
  SecretsQuestion,
  SshQuestions,
} from '../../shared/machines/ssh-question.ts';
import type { AskpassQuestion } from './askpass.ts';
import { ASKS_FOR_PASSWORD } from './authentication.ts';
import type { PausableDeadline } from './deadline.ts';
import { decideHostKey } from './host-keys/host-key-decision.ts';
import { oneAtATime } from './questions.ts';
import type { RememberedSecrets } from './remembered-secrets.ts';
import { hostKeyRefused, printable, printableLines } from './ssh-errors.ts';
import { hopNamed, parsePrompt, type SystemPrompt } from './system-prompt.ts';
import { DEFAULT_PORT, hopsTo, hopText, placeOf, type SshTarget } from './target.ts';

export interface SystemQuestionsContext {
  /** Asks the user; undefined if nobody can be asked. */
  readonly questions: SshQuestions | undefined;
  readonly confirmedHostKeys: readonly string[];
  readonly secrets: RememberedSecrets;
  readonly deadline: PausableDeadline;
  readonly signal: AbortSignal;
  /** Ends the attempt at once, with this reason. */
  readonly giveUp: (error: unknown) => void;
}

type Of<K extends SystemPrompt['kind']> = Extract<SystemPrompt, { readonly kind: K }>;

export class SystemQuestions {
  readonly #target: SshTarget;
  readonly #context: SystemQuestionsContext;
  /** The last answers, by place or file; remembered once they have worked. */
  readonly #passwords = new Map<string, string>();
  readonly #passphrases = new Map<string, string>();
  /** A server's questions, by place. */
  readonly #asked = new Map<string, number>();
  /** Files whose passphrase would have been needed. */
  readonly #locked = new Set<string>();
  #refused: GradwireError | undefined;

  constructor(target: SshTarget, context: SystemQuestionsContext) {
    this.#target = target;
    this.#context = context;
  }

  /** Our reason to refuse a host key; more informative than the following error of `ssh`. */
  get refused(): GradwireError | undefined {
    return this.#refused;
  }

  /** Whether a user can be asked. */
  get interactive(): boolean {
    return this.#context.questions !== undefined;
  }

  /** Keys that were skipped because no user could be asked for their passphrases. */
  get locked(): readonly string[] {
    return [...this.#locked];
  }

  /** Whether passwords may be tried: a user can be asked, or one is remembered. */
  readonly passwords = (hop: SshTarget): boolean =>
    this.#context.questions !== undefined ||
    this.#context.secrets.password(placeOf(hop)) !== undefined;

  /** Called when all hosts have accepted the log-in. */
  succeeded(): void {
    const { secrets } = this.#context;
    for (const [place, password] of this.#passwords) {
      secrets.keepPassword(place, password);
    }
    for (const [file, passphrase] of this.#passphrases) {
      secrets.keepPassphrase(file, passphrase);
    }
  }

  readonly answer = async (question: AskpassQuestion): Promise<string | undefined> => {
    try {
      if (question.kind !== 'answer') return await this.#confirm(question);
      const prompt = parsePrompt(question.prompt);
      switch (prompt.kind) {
        case 'host-key':
          return await this.#hostKey(prompt, question.signal);
        case 'host-key-again':
          return 'no';
        case 'passphrase':
          return await this.#passphrase(prompt, question.signal);
        case 'password':
          return await this.#password(prompt, question.signal);
        case 'server':
          return await this.#serverQuestion(prompt, question.signal);
        case 'other':
          return await this.#ask(
            this.#target,
            { kind: 'keyboard-interactive', prompts: [hidden(prompt.text)] },
            question.signal,
            this.#hasOthers,
          );
        default:
          return prompt satisfies never;
      }
    } catch (error) {
      if (!question.signal.aborted) this.#context.giveUp(error);
      throw error;
    }
  };

  async #hostKey(
    { name, keyType, fingerprint, otherTypes, accept }: Of<'host-key'>,
    signal: AbortSignal,
  ): Promise<string> {
    const { questions, confirmedHostKeys } = this.#context;
    const hop = hopNamed(this.#target, name);
    const decision = decideHostKey({
      checking: hop.strictHostKeyChecking,
      standing: otherTypes ? 'other-type' : 'unknown',
      confirmed: confirmedHostKeys.includes(fingerprint),
      interactive: questions?.hostKey !== undefined,
    });
    switch (decision.action) {
      case 'accept':
      case 'accept-and-remember':
        return accept;
      case 'refuse':
        this.#refused = hostKeyRefused(decision.code, hop, {
          keyType,
          fingerprint,
          known: 'your known_hosts files',
          isJump: hop !== this.#target,
        });
        return 'no';
      case 'ask': {
        const { host, port } = hop;
        const { reason } = decision;
        const answer = await this.#during(
          oneAtATime(questions!).hostKey(
            {
              host,
              port,
              title: hopText(hop, hop !== this.#target),
              keyType,
              fingerprint,
              reason,
            },
            this.#either(signal),
          ),
        );
        if (answer === 'accept') return accept;
        this.#refused = failure(
          'HOST_KEY_REFUSED',
          `you did not accept the key of ${host}`,
          {
            place: placeOf(hop),
            next: 'Connect again once you have compared its fingerprint.',
          },
        );
        return 'no';
      }
      default:
        return decision satisfies never;
    }
  }

  async #passphrase(
    { file }: Of<'passphrase'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { secrets, questions } = this.#context;
    const again = this.#passphrases.has(file);
    const remembered = again ? undefined : secrets.passphrase(file);
    if (remembered === undefined && questions === undefined) {
      this.#locked.add(file);
      return undefined;
    }
    const answer =
      remembered ??
      (await this.#ask(
        this.#target,
        {
          kind: 'passphrase',
          ...(again ? { instruction: 'That passphrase was wrong.' } : {}),
          prompts: [{ text: `Passphrase for key ${file}:`, echo: false }],
        },
        signal,
      ));
    this.#passphrases.set(file, answer);
    return answer;
  }

  async #password(
    { user, host }: Of<'password'>,
    signal: AbortSignal,
  ): Promise<string> {
    const { hop, jump } = this.#askerOf(user, host);
    const place = placeOf(hop);
    const again = this.#passwords.has(place);
    const remembered = this.#remembered(place);
    const answer =
      remembered ??
      (await this.#ask(
        hop,
        {
          kind: 'password',
          ...(again ? { instruction: 'That password was refused.' } : {}),
          prompts: [{ text: `Password for ${place}:`, echo: false }],
        },
        signal,
        jump,
      ));
    this.#passwords.set(place, answer);
    return answer;
  }

  async #serverQuestion(
    { user, host, text }: Of<'server'>,
    signal: AbortSignal,
  ): Promise<string> {
    const { hop, jump } = this.#askerOf(user, host);
    const place = placeOf(hop);
    const before = this.#asked.get(place) ?? 0;
    this.#asked.set(place, before + 1);
    const forPassword = ASKS_FOR_PASSWORD.test(text);
    const remembered = forPassword ? this.#remembered(place) : undefined;
    const answer =
      remembered ??
      (await this.#ask(
        hop,
        { kind: 'keyboard-interactive', prompts: [hidden(text)] },
        signal,
        jump,
      ));
    // A password is kept only if nothing else was asked: a code works only once.
    if (forPassword && (before === 0 || this.#passwords.has(place))) {
      this.#passwords.set(place, answer);
    } else this.#passwords.delete(place);
    return answer;
  }

  /** A refused one is forgotten: another attempt with it could lock the account. */
  #remembered(place: string): string | undefined {
    const { secrets } = this.#context;
    if (!this.#passwords.has(place)) return secrets.password(place);
    secrets.forgetPassword(place);
    return undefined;
  }

  /** Something to allow or to do, such as touching a security key. */
  async #confirm({
    kind,
    prompt,
    signal,
  }: AskpassQuestion): Promise<string | undefined> {
    const instruction = printableLines(prompt);
    if (kind === 'none') {
      const asking = this.#ask(
        this.#target,
        { kind: 'keyboard-interactive', instruction, prompts: [] },
        signal,
      );
      // It ends when `ssh` stops waiting, whether or not the message was closed.
      await asking.catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      return '';
    }
    const prompts = [{ text: 'yes or no:', echo: true }];
    const answer = await this.#ask(
      this.#target,
      { kind: 'keyboard-interactive', instruction, prompts },
      signal,
      this.#hasOthers,
    );
    return /^y(es)?$/i.test(answer.trim()) ? 'yes' : undefined;
  }

  /** The answer to the one prompt. @throws GradwireError `SSH_AUTH_…` */
  async #ask(
    hop: SshTarget,
    question: Omit<SecretsQuestion, 'host' | 'port' | 'user' | 'jump'>,
    signal: AbortSignal,
    jump = false,
  ): Promise<string> {
    const { questions } = this.#context;
    const { host, port, user } = hop;
    const place = placeOf(hop);
    if (questions === undefined) {
      const what = question.prompts[0]?.text ?? question.instruction ?? '';
      throw failure(
        'SSH_AUTH_NEEDED',
        `ssh asks “${printable(what)}”, but Gradwire cannot prompt for input now`,
        {
          place,
          next: 'Connect from the window or a terminal, or load the key into an agent.',
        },
      );
    }
    const whose = { host, port, user, ...(jump ? { jump } : {}) };
    const answers = await this.#during(
      oneAtATime(questions).secrets({ ...whose, ...question }, this.#either(signal)),
    );
    if (answers !== undefined) return answers[0] ?? '';
    throw failure('SSH_AUTH_CANCELLED', `the ${question.kind} prompt was cancelled`, {
      place,
      next: 'Connect again when you have it.',
    });
  }

  #during<T>(waiting: Promise<T>): Promise<T> {
    return this.#context.deadline.during(waiting);
  }

  #either(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([this.#context.signal, signal]);
  }

  /** Whether another host may ask: a jump host, or one that a ProxyCommand logs in to. */
  get #hasOthers(): boolean {
    return hopsTo(this.#target).some(
      (hop) => hop !== this.#target || hop.system?.proxyCommand === true,
    );
  }

  /** `jump` unless it can only be the machine itself: `ssh` names no ports. */
  #askerOf(
    user: string,
    host: string,
  ): { readonly hop: SshTarget; readonly jump: boolean } {
    if (!this.#hasOthers) return { hop: this.#target, jump: false };
    const name = host.toLowerCase();
    const [hop, ...others] = hopsTo(this.#target).filter(
      (one) =>
        one.user === user &&
        (one.host.toLowerCase() === name || one.hostKeyAlias === name),
    );
    const stranger = { ...this.#target, user, host, port: DEFAULT_PORT };
    const isCertain = hop === this.#target && others.length === 0;
    return { hop: hop ?? stranger, jump: !isCertain };
  }
}

const hidden = (text: string): { readonly text: string; readonly echo: false } => ({
  text: printableLines(text),
  echo: false,
});
