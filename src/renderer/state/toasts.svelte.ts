/**
 * Short messages at the edge of the window: errors that belong to no view, and actions
 * with an Undo. At most five; an error stays until it is closed.
 */
import { isErrorData, toErrorData, type ErrorData } from '../../shared/errors.ts';

export interface Toast {
  readonly id: number;
  readonly tone: 'info' | 'error';
  readonly text: string;
  readonly error?: ErrorData | undefined;
  readonly action?: { readonly title: string; readonly run: () => void } | undefined;
}

const LIMIT = 5;
const LIFETIME_MS = 8_000;

export class Toasts {
  #toasts = $state.raw<readonly Toast[]>([]);
  #timers: Readonly<Record<number, ReturnType<typeof setTimeout>>> = {};
  #last = 0;

  get toasts(): readonly Toast[] {
    return this.#toasts;
  }

  info(text: string, action?: Toast['action']): void {
    const id = this.#add({ tone: 'info', text, action });
    this.#timers = {
      ...this.#timers,
      [id]: setTimeout(() => this.dismiss(id), LIFETIME_MS),
    };
  }

  /** Any thrown value; the same error is not shown twice. */
  error(thrown: unknown): void {
    const error = isErrorData(thrown) ? thrown : toErrorData(thrown);
    if (this.#toasts.some((toast) => toast.error?.message === error.message)) return;
    this.#add({ tone: 'error', text: error.message, error });
  }

  dismiss(id: number): void {
    const { [id]: timer, ...others } = this.#timers;
    clearTimeout(timer);
    this.#timers = others;
    this.#toasts = this.#toasts.filter((toast) => toast.id !== id);
  }

  close(): void {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#timers = {};
  }

  #add(toast: Omit<Toast, 'id'>): number {
    const id = ++this.#last;
    this.#toasts = [...this.#toasts, { id, ...toast }].slice(-LIMIT);
    return id;
  }
}
