/**
 * Escapes text for HTML, SVG and XML, in elements and in quoted attributes. Characters that XML
 * cannot have at all become a replacement character.
 */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that XML has no way to write; a tab and line ends are not among them. */
const UNWRITABLE = new RegExp(
  '[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\u{10000}-\\u{10ffff}]',
  'gu',
);

export const escapeMarkup = (text: string): string =>
  text
    .replace(UNWRITABLE, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!);
