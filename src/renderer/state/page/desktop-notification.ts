/** Notifications that the browser passes to the operating system, by the user's permission. */

/** Shows one while the page is out of sight. */
export function notifyOutOfSight(title: string, body: string, click: () => void): void {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  if (document.visibilityState === 'visible' && document.hasFocus()) return;
  const shown = new Notification(title, { body });
  shown.addEventListener('click', () => {
    window.focus();
    click();
    shown.close();
  });
}

/**
 * Asks for permission where the browser does that.
 * @returns whether notifications can be shown
 */
export async function mayNotify(): Promise<boolean> {
  if (!('Notification' in globalThis)) return false;
  return (await Notification.requestPermission()) === 'granted';
}
