/**
 * An agent for a single key from any source. ssh2 offers an agent's key to the server
 * before it asks for a signature, but needs a key file's private key first. So every key is
 * offered as an agent's, and a passphrase is asked for only if the server accepts the key.
 */
import ssh2, { type ParsedKey } from 'ssh2';

export class OneKeyAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #key: ParsedKey;
  readonly #sign: (data: Buffer, hash: string | undefined) => Promise<Buffer>;
  readonly #failed: (error: unknown) => void;

  constructor(
    key: ParsedKey,
    sign: (data: Buffer, hash: string | undefined) => Promise<Buffer>,
    failed: (error: unknown) => void,
  ) {
    super();
    this.#key = key;
    this.#sign = sign;
    this.#failed = failed;
  }

  override getIdentities(
    done: (error: Error | undefined, keys?: ParsedKey[]) => void,
  ): void {
    done(undefined, [this.#key]);
  }

  override sign(_key: ParsedKey, data: Buffer, options: unknown, done?: unknown): void {
    const reply = (typeof options === 'function' ? options : done) as (
      error: Error | undefined,
      signature?: Buffer,
    ) => void;
    const { hash } = (typeof options === 'object' ? options : {}) as { hash?: string };
    this.#sign(data, hash)
      .then(
        (signature) => {
          reply(undefined, signature);
        },
        (error: unknown) => {
          this.#failed(error);
          reply(error as Error);
        },
      )
      // ssh2 throws if it cannot use a signature.
      .catch(this.#failed);
  }
}
