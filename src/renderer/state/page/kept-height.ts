/**
 * A part of a page whose content grows and shrinks while one reads on below: it stays as high as its
 * content has been, until its width changes or nobody sees the page.
 */
import type { Attachment } from 'svelte/attachments';

/** The element has one child, its content. */
export const keepHeight: Attachment<HTMLElement> = (element) => {
  const content = element.firstElementChild!;
  let width = 0;
  let most = 0;

  function look(): void {
    const box = content.getBoundingClientRect();
    most = box.width === width ? Math.max(most, box.height) : box.height;
    ({ width } = box);
    element.style.minHeight = `${most}px`;
  }

  function forget(): void {
    if (document.visibilityState === 'visible') return;
    width = 0;
    look();
  }

  const resized = new ResizeObserver(look);
  resized.observe(content);
  document.addEventListener('visibilitychange', forget);
  return () => {
    resized.disconnect();
    document.removeEventListener('visibilitychange', forget);
    element.style.minHeight = '';
  };
};
