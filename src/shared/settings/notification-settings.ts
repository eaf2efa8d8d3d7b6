/** Settings of where alerts are told besides the run itself. */
import { isPrintable, PRINTABLE_RULE } from '../words/printable.ts';
import type { Setting } from './setting.ts';

/** @returns what is wrong with the address of a webhook */
function webhookFault(text: string): string | undefined {
  // A URL loses line breaks in silence.
  if (!isPrintable(text)) return PRINTABLE_RULE;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'it is no address';
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
    takes: 'a shell command, or nothing',
    fault: (text) =>
      isPrintable(text.replaceAll(/[\n\t]/g, ' ')) ? undefined : PRINTABLE_RULE,
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
    takes: 'an address such as https://example.org/hook, or nothing',
    fault: webhookFault,
  },
] as const satisfies readonly Setting[];
