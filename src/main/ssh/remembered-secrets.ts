/**
 * Passwords and passphrases that worked, for later connections and for other machines that
 * need the same ones. They are only in memory
 * and end with their owner. Answers to other questions are never kept: a one-time code
 * would count as a failed attempt the next time.
 */
export class RememberedSecrets {
  readonly #passwords = new Map<string, string>();
  readonly #passphrases = new Map<string, string>();

  /** @param place user@host:port */
  password(place: string): string | undefined {
    return this.#passwords.get(place);
  }

  keepPassword(place: string, password: string): void {
    this.#passwords.set(place, password);
  }

  forgetPassword(place: string): void {
    this.#passwords.delete(place);
  }

  passphrase(file: string): string | undefined {
    return this.#passphrases.get(file);
  }

  keepPassphrase(file: string, passphrase: string): void {
    this.#passphrases.set(file, passphrase);
  }

  forgetPassphrase(file: string): void {
    this.#passphrases.delete(file);
  }

  clear(): void {
    this.#passwords.clear();
    this.#passphrases.clear();
  }
}
