/**
 * A style sheet that looks like a style element to xterm.js, which creates style elements
 * and sets their text. The page's policy forbids inline styles but allows sheets made by
 * scripts.
 */
export function adoptedStyle(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const place = document.createElement('span');
  place.hidden = true;
  Object.defineProperty(place, 'textContent', {
    set: (text: string) => {
      sheet.replaceSync(text);
    },
  });
  place.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(
      (other) => other !== sheet,
    );
    Element.prototype.remove.call(place);
  };
  return place;
}
