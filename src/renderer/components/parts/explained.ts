/**
 * Explanations of elements, shown below one while the pointer is on it or it has the focus, and
 * read with it by screen readers. Escape takes it away; it stays while the pointer is on the text itself.
 */
import type { Attachment } from 'svelte/attachments';

const DELAY_MS = 120;
const GAP = 6;
const MARGIN = 8;

/** The one text that is shown at a time. */
class Bubble {
  readonly #element = document.createElement('div');
  #anchor: HTMLElement | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #open = new AbortController();

  constructor() {
    this.#element.id = 'explanation';
    this.#element.className = 'explanation';
    this.#element.role = 'tooltip';
    this.#element.popover = 'manual';
    this.#element.addEventListener('pointerenter', () => clearTimeout(this.#timer));
    this.#element.addEventListener('pointerleave', () => this.hideSoon());
  }

  showSoon(anchor: HTMLElement, text: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.show(anchor, text), DELAY_MS);
  }

  show(anchor: HTMLElement, text: string): void {
    this.hide();
    this.#anchor = anchor;
    this.#element.textContent = text;
    (anchor.closest('[role="dialog"], main') ?? document.body).append(this.#element);
    anchor.setAttribute('aria-describedby', this.#element.id);
    this.#element.showPopover();
    this.#place(anchor.getBoundingClientRect());
    this.#open = new AbortController();
    const { signal } = this.#open;
    const options = { signal, capture: true };
    window.addEventListener('scroll', () => this.hide(), options);
    window.addEventListener('resize', () => this.hide(), options);
    window.addEventListener('keydown', (event) => this.#leave(event), options);
    window.addEventListener('pointerdown', (event) => this.#touch(event), options);
  }

  /** Hides it after a moment, in which the pointer may reach it. */
  hideSoon(): void {
    clearTimeout(this.#timer);
    if (this.#anchor?.matches(':focus-visible') === true) return;
    this.#timer = setTimeout(() => this.hide(), DELAY_MS);
  }

  hide(anchor = this.#anchor): void {
    if (anchor !== this.#anchor) return;
    clearTimeout(this.#timer);
    this.#open.abort();
    this.#anchor?.removeAttribute('aria-describedby');
    this.#anchor = undefined;
    this.#element.remove();
  }

  #leave(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    this.hide();
  }

  #touch({ target }: Event): void {
    if (target instanceof Node && this.#anchor?.contains(target) === true) return;
    if (target !== this.#element) this.hide();
  }

  /** Places it below the anchor, or above where there is no room. */
  #place(anchor: DOMRect): void {
    const { height, width } = this.#element.getBoundingClientRect();
    const right = window.innerWidth - width - MARGIN;
    const below = anchor.bottom + GAP;
    const fits = below + height + MARGIN <= window.innerHeight;
    this.#element.style.left = `${Math.max(MARGIN, Math.min(anchor.left, right))}px`;
    this.#element.style.top = `${fits ? below : anchor.top - GAP - height}px`;
  }
}

let bubble: Bubble | undefined;

/** Explains an element that can have the focus. */
export const explained =
  (text: string): Attachment<HTMLElement> =>
  (element) => {
    const shown = (bubble ??= new Bubble());
    const stop = new AbortController();
    const { signal } = stop;
    const on = (type: string, does: (event: Event) => void): void =>
      element.addEventListener(type, does, { signal });
    on('pointerenter', (event) => {
      if ((event as PointerEvent).pointerType !== 'touch')
        shown.showSoon(element, text);
    });
    on('pointerleave', () => shown.hideSoon());
    on('focus', () => shown.show(element, text));
    on('blur', () => shown.hide(element));
    return () => {
      stop.abort();
      shown.hide(element);
    };
  };
