/**
 * The lock of a home: one supervisor at a time owns the runs in it, on whichever machine that
 * shares it. It is a file that names its holder; it appears whole and only if it is not there
 * (`link`), which the server of a network file system decides. The lock of a dead holder is not
 * removed, since another process may have replaced it in that moment: a successor is appended
 * to it, `supervisor.lock.after-TOKEN`, which only one process can create. Whoever is last in
 * that chain holds the lock, and puts itself at its beginning.
 * Upholds invariant I12 (docs/architecture.md).
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  fateOf,
  ownHolder,
  parseHolder,
  type HolderFate,
  type LockHolder,
} from '../../../disk/lock-holder.ts';

const LOCK_FILE = 'supervisor.lock';
const AFTER = `${LOCK_FILE}.after-`;
const DRAFT = `${LOCK_FILE}.new-`;

const PAUSE_MS = 20;
/** File systems without hard links say so in different ways. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];
/** Time for which a lock may be incomplete where it cannot appear whole, or seem so over NFS. */
const PATIENCE_MS = 5000;

/** Reason that the lock cannot be had. Without a holder, nothing in the file can be read. */
export interface HeldLock {
  readonly file: string;
  readonly holder?: LockHolder | undefined;
  readonly fate: Exclude<HolderFate, 'dead'> | 'unknown';
}

interface ChainEnd {
  readonly file: string;
  readonly holder: LockHolder | undefined;
}

export class HomeLock {
  readonly #directory: string;
  #token: string;

  private constructor(directory: string, token: string) {
    this.#directory = directory;
    this.#token = token;
  }

  /** @throws if the directory cannot be written */
  static async acquire(directory: string): Promise<HomeLock | HeldLock> {
    const token = randomBytes(16).toString('hex');
    const draft = path.join(directory, `${DRAFT}${token}`);
    const text = JSON.stringify(ownHolder(token));
    try {
      writeWhole(draft, text);
      const end = performance.now() + PATIENCE_MS;
      for (;;) {
        const held = tryToTake(directory, { draft, text, token });
        if (held === undefined) return new HomeLock(directory, token);
        if (held.fate !== 'unknown' || performance.now() > end) return held;
        await pause(PAUSE_MS);
      }
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /**
   * Whether this process still holds it. A lock that somebody has removed is taken again, if
   * nobody else was faster.
   */
  async keep(): Promise<boolean> {
    if (this.#isMine) return true;
    const again = await HomeLock.acquire(this.#directory);
    if (again instanceof HomeLock) this.#token = again.#token;
    return this.#isMine;
  }

  release(): void {
    if (this.#isMine) rmSync(path.join(this.#directory, LOCK_FILE), { force: true });
  }

  get #isMine(): boolean {
    return endOf(this.#directory)?.holder?.token === this.#token;
  }
}

interface Claim {
  readonly draft: string;
  readonly text: string;
  readonly token: string;
}

/**
 * Tries to take the lock; undefined if it is now this process's. `unknown`: perhaps the next
 * moment.
 */
function tryToTake(directory: string, claim: Claim): HeldLock | undefined {
  const first = path.join(directory, LOCK_FILE);
  const end = endOf(directory);
  if (end === undefined) {
    return appear(claim, first) ? undefined : { file: first, fate: 'unknown' };
  }
  const { file, holder } = end;
  if (holder === undefined) return { file, fate: 'unknown' };
  const fate = fateOf(holder);
  if (fate !== 'dead') return { file, holder, fate };
  const after = path.join(directory, `${AFTER}${holder.token}`);
  if (!appear(claim, after)) return { file, holder, fate: 'unknown' };
  // While this one looked, another may have succeeded the dead one and begun a new chain.
  if (endOf(directory)?.holder?.token !== claim.token) {
    rmSync(after, { force: true });
    return { file, holder, fate: 'unknown' };
  }
  beginChain(directory, claim);
  return undefined;
}

/** The end of the chain; undefined if nobody holds the lock. */
function endOf(directory: string): ChainEnd | undefined {
  let file = path.join(directory, LOCK_FILE);
  let end: ChainEnd | undefined;
  for (;;) {
    const text = contentOf(file);
    if (text === undefined) return end;
    const holder = parseHolder(text);
    end = { file, holder };
    if (holder === undefined) return end;
    file = path.join(directory, `${AFTER}${holder.token}`);
  }
}

/** Opening a file asks the server of a network file system for what it is now. */
function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESTALE') return undefined;
    throw error;
  }
}

/** Whether the claim is now in that file, which was not there before. */
function appear({ draft, text, token }: Claim, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // A server's lost answer to the first attempt makes the second one fail.
    if (code === 'EEXIST') return parseHolder(contentOf(file) ?? '')?.token === token;
    if (!NO_LINKS.includes(code)) throw error;
  }
  try {
    writeWhole(file, text);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Begins a chain of locks, which nobody else can change now: its end is alive. */
function beginChain(directory: string, { draft, text }: Claim): void {
  if (!existsSync(draft)) writeWhole(draft, text);
  renameSync(draft, path.join(directory, LOCK_FILE));
  for (const name of readdirSync(directory)) {
    const file = path.join(directory, name);
    if (name.startsWith(AFTER)) rmSync(file, { force: true });
    if (name.startsWith(DRAFT) && isLeft(file)) rmSync(file, { force: true });
  }
}

/** Whether the process that wrote it died before it removed it. */
function isLeft(file: string): boolean {
  const holder = parseHolder(contentOf(file) ?? '');
  return holder !== undefined && fateOf(holder) === 'dead';
}

/** Synchronised, so that a power cut leaves no empty file. */
function writeWhole(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
