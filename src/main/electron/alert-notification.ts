/** Shows alerts by the operating system while the window is out of sight, if the user wants that. */
import { Notification, type BrowserWindow } from 'electron';
import { toErrorData } from '../../shared/errors/errors.ts';
import type { ToldAlert } from '../../shared/alerts/told-alert.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import type { AppListener } from '../app/event-outbox.ts';

/** @returns a listener to the core's events */
export function notifyOfAlerts(
  api: Pick<CoreApi, 'settings'>,
  window: () => BrowserWindow | undefined,
  raise: (window: BrowserWindow | undefined) => void,
): AppListener {
  const show = async ({ message, name, title }: ToldAlert): Promise<void> => {
    const { values } = await api.settings();
    const isSeen = window()?.isFocused() === true;
    if (values['notify.desktop'] !== true || isSeen || !Notification.isSupported())
      return;
    const shown = new Notification({ title: `${title}: ${name}`, body: message });
    shown.on('click', () => {
      raise(window());
    });
    shown.show();
  };
  return (event, ...args) => {
    if (event !== 'alert') return;
    show(args[0] as ToldAlert).catch((error: unknown) => {
      process.stderr.write(`gradwire: ${toErrorData(error).message}\n`);
    });
  };
}
