/**
 * Columns of a table whose rows come and go while it is scrolled: they stay as wide as the rows so
 * far need, and grow where a value has no room. Without it each new row could move all of them.
 */
import type { Attachment } from 'svelte/attachments';

/** Pause after the last new row before rows are looked at: to look has the page laid out. */
const PAUSE_MS = 150;

export const keepWidths: Attachment<HTMLTableElement> = (table) => {
  const heads = (): readonly HTMLElement[] => [
    ...table.querySelectorAll<HTMLElement>('th[scope=col]'),
  ];
  /** The heads whose widths were found. */
  let found: readonly HTMLElement[] = [];
  let pause: ReturnType<typeof setTimeout> | undefined;

  /** @param grow whether columns keep at least the widths that they have */
  function find(grow: boolean): void {
    found = heads();
    const before = found.map((head) => head.offsetWidth);
    table.style.tableLayout = 'auto';
    found.forEach((head, index) => {
      head.style.width = '';
      head.style.minWidth = grow ? `${before[index]}px` : '';
    });
    const widths = found.map((head) => head.getBoundingClientRect().width);
    found.forEach((head, index) => {
      head.style.minWidth = '';
      head.style.width = `${widths[index]}px`;
    });
    table.style.tableLayout = 'fixed';
  }

  function begin(): void {
    // Blocks have no columns, and rows that were not read yet say nothing about them.
    const isFilled = table.querySelector('td + td') !== null;
    if (isFilled && getComputedStyle(table).display === 'table') find(false);
    else found = [];
  }

  function look(): void {
    if ([...table.querySelectorAll('td')].some(isTooNarrow)) find(true);
  }

  let room = 0;
  const resized = new ResizeObserver(([region]) => {
    if (region!.contentRect.width === room) return;
    room = region!.contentRect.width;
    begin();
  });
  resized.observe(table.parentElement!);
  const changed = new MutationObserver(() => {
    const now = heads();
    if (now.length !== found.length || now.some((head, at) => head !== found[at]))
      begin();
    clearTimeout(pause);
    if (found.length > 0) pause = setTimeout(look, PAUSE_MS);
  });
  changed.observe(table, { childList: true, characterData: true, subtree: true });
  return () => {
    clearTimeout(pause);
    resized.disconnect();
    changed.disconnect();
  };
};

const isTooNarrow = (cell: HTMLElement): boolean => cell.scrollWidth > cell.clientWidth;
