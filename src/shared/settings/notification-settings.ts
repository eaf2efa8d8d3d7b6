/** Settings of where alerts are told besides the run itself. */
import type { Setting } from './setting.ts';

/** @returns what is wrong with the address of a webhook */
function webhookFault(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'it is no address; write one such as https://example.org/hook';
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return 'it must begin with https:// or http://';
  }
  if (url.username !== '' || url.password !== '') {
    return 'it must have no name or password in it';
  }
  return undefined;
}

export const notificationSettings = [
  {
    key: 'notify.desktop',
    kind: 'switch',
    title: 'On the desktop',
    help:
      'The operating system shows alerts while the page is out of sight. A browser asks for ' +
      'permission first.',
    default: false,
  },
  {
    key: 'notify.command',
    kind: 'text',
    title: 'Command',
    help:
      'Command that a shell runs for each alert, at most 10 seconds. The alert is its standard ' +
      'input, as one line of JSON. Empty: none.',
    default: '',
    longest: 1000,
  },
  {
    key: 'notify.webhook',
    kind: 'text',
    title: 'Webhook',
    help:
      'Address to which each alert is sent as JSON (POST): run, rule and message leave this ' +
      'computer then. Empty: nothing is sent.',
    default: '',
    longest: 2000,
    fault: webhookFault,
  },
] as const satisfies readonly Setting[];
