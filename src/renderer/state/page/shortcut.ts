/**
 * Keyboard shortcuts as text: `mod+shift+p`, `mod+n`, `?`. `mod` is Command on macOS and
 * Ctrl elsewhere. A shortcut without `mod` is a sign and never fires while the user types
 * into a field. No letter alone is one: a word that is dictated or typed in the wrong place
 * would go somewhere.
 */

/** The parts of a KeyboardEvent that a match needs. */
export interface KeyStroke {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

export function isModified(shortcut: string): boolean {
  return shortcut.startsWith('mod+');
}

export function matchesShortcut(
  stroke: KeyStroke,
  shortcut: string,
  mac: boolean,
): boolean {
  const parts = shortcut.split('+');
  const key = parts.at(-1)!;
  const mod = mac ? stroke.metaKey : stroke.ctrlKey;
  const otherMod = mac ? stroke.ctrlKey : stroke.metaKey;
  if (mod !== parts.includes('mod') || otherMod || stroke.altKey) return false;
  // A sign such as "?" may need Shift on one keyboard and not on another, so only its key
  // counts.
  const letter = /^[a-z0-9]$|^.{2,}$/.test(key);
  if (letter && stroke.shiftKey !== parts.includes('shift')) return false;
  return stroke.key.toLowerCase() === key;
}

/** Returns a shortcut as key caps: `['Ctrl', 'Shift', 'P']`, `['⌘', '⇧', 'P']`. */
export function shortcutKeys(shortcut: string, mac: boolean): readonly string[] {
  return shortcut.split('+').map((part) => {
    if (part === 'mod') return mac ? '⌘' : 'Ctrl';
    if (part === 'shift') return mac ? '⇧' : 'Shift';
    return part.length === 1
      ? part.toUpperCase()
      : part[0]!.toUpperCase() + part.slice(1);
  });
}
