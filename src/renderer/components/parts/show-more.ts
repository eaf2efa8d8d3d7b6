/** A button that shows more of a list, and is gone once all of it is shown. */
import { tick } from 'svelte';

/** Parts of a page that take the focus when there is nothing new to take it. */
const HOLDER = '[role="region"], section';

/**
 * Shows more, and moves the focus from the button to the first of what has come. A button that leaves
 * the page would drop it to the page's begin.
 * @param selector of what can take the focus, within the same part of the page
 */
export async function showMore(
  button: HTMLElement,
  { selector, show }: { readonly selector: string; readonly show: () => void },
): Promise<void> {
  const holder = button.closest<HTMLElement>(HOLDER);
  if (holder === null) throw new Error('internal: a button outside of all sections');
  const before = new Set(holder.querySelectorAll(selector));
  show();
  await tick();
  const now = [...holder.querySelectorAll<HTMLElement>(selector)];
  (now.find((element) => !before.has(element)) ?? holder).focus();
}
