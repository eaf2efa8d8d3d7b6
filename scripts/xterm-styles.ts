/**
 * Lets the bundled xterm.js set its styles under a policy that forbids inline ones: its style
 * sheets are adopted by the document (src/renderer/terminal/adopted-style.ts), and the colours
 * of single characters go through CSSOM. A change of four places of the library.
 */
import path from 'node:path';
import type { Plugin } from 'vite';

const LIBRARY = /@xterm\/xterm\/lib\/xterm\.mjs/;
const ADOPTED = 'src/renderer/terminal/adopted-style.ts';
const SHEET = /(?:\w+\.)+createElement\("style"\)/g;
const SHEETS = 3;
const COLOUR =
  /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g;
const COLOURS = 1;

/** @param root the installation's directory */
export function xtermStyles(root: string): Plugin {
  const adopted = JSON.stringify(path.join(root, ADOPTED));
  return {
    name: 'xterm-styles',
    transform: {
      filter: { id: LIBRARY },
      handler(code) {
        const found = [code.match(SHEET)?.length, code.match(COLOUR)?.length];
        if (found[0] !== SHEETS || found[1] !== COLOURS) {
          throw new Error(
            `xterm.js sets styles in ${found.join(' and ')} places, not in ${SHEETS} and ` +
              `${COLOURS}: see scripts/xterm-styles.ts`,
          );
        }
        const replaced = code
          .replace(SHEET, 'adoptedStyle()')
          .replace(COLOUR, '$1.style.cssText+=`${$2};`');
        return {
          code: `import { adoptedStyle } from ${adopted};${replaced}`,
          map: null,
        };
      },
    },
  };
}
