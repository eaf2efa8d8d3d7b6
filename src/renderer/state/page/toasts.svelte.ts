/**
 * Short messages at the edge of the window: errors that belong to no view, actions with an Undo,
 * and work that goes on. At most five are shown; an error stays until it is closed, and those
 * that have no room are shown as others go.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';

export interface Toast {
  readonly id: number;
  readonly tone: 'info' | 'error';
  readonly text: string;
  readonly error?: ErrorData | undefined;
  readonly action?: { readonly title: string; readonly run: () => void } | undefined;
}

export interface LastingToast {
  /** Changes its text. */
  update(text: string): void;
  close(): void;
}

const LIMIT = 5;
/** Messages kept, shown or not. */
const KEPT = 50;
const LIFETIME_MS = 8_000;
/** An action, such as Undo, has to be read, decided on and reached. */
const ACTION_LIFETIME_MS = 30_000;

export class Toasts {
  #toasts = $state.raw<readonly Toast[]>([]);
  #timers: Readonly<Record<number, ReturnType<typeof setTimeout>>> = {};
  #last = 0;

  get toasts(): readonly Toast[] {
    return this.#toasts.slice(-LIMIT);
  }

  info(text: string, action?: Toast['action']): void {
    const id = this.#add({ tone: 'info', text, action });
    this.#timers = {
      ...this.#timers,
      [id]: setTimeout(
        () => this.dismiss(id),
        action === undefined ? LIFETIME_MS : ACTION_LIFETIME_MS,
      ),
    };
  }

  /** A message that stays until its owner closes it, as long as something goes on. */
  lasting(text: string, action: Toast['action']): LastingToast {
    const id = this.#add({ tone: 'info', text, action });
    return {
      update: (next) => {
        this.#toasts = this.#toasts.map((toast) =>
          toast.id === id ? { ...toast, text: next } : toast,
        );
      },
      close: () => this.dismiss(id),
    };
  }

  /** Any thrown value; the same error is not shown twice. */
  error(thrown: unknown): void {
    const error = toErrorData(thrown);
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
    this.#toasts = [...this.#toasts, { id, ...toast }].slice(-KEPT);
    return id;
  }
}
