/** The page's colours for xterm.js, from styles/tokens.css, for both themes. */
import type { ITheme } from '@xterm/xterm';

const COLOURS = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
] as const;

export function terminalTheme(style: CSSStyleDeclaration): ITheme {
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const bright = (name: string): string =>
    `bright${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return {
    background: token('surface'),
    foreground: token('ink'),
    cursor: token('accent'),
    cursorAccent: token('surface'),
    selectionBackground: token('terminal-selection'),
    selectionForeground: token('ink'),
    scrollbarSliderBackground: token('line'),
    scrollbarSliderHoverBackground: token('line-strong'),
    scrollbarSliderActiveBackground: token('line-strong'),
    ...Object.fromEntries(
      COLOURS.flatMap((name) => [
        [name, token(`terminal-${name}`)],
        [bright(name), token(`terminal-bright-${name}`)],
      ]),
    ),
  };
}
