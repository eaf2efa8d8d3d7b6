/** The level that a printed line states. */
import type { LogRecord } from '../../../shared/records/log.ts';

const ERROR =
  /^\s*(?:\S+: )?(?:uncaught |\[?(?:fatal|error|critical)\b|\w*(?:Error|Exception)\b[:[ ])/i;
const WARNING = /^\s*(?:\(node:\d+\) (?:\[\w+\] )?|\S+: )?\[?(?:\w*warning|warn)\b/i;

/** Finds the level that a line states; undefined if it states none. */
export function levelOf(text: string): LogRecord['level'] {
  if (WARNING.test(text)) return 'warning';
  return ERROR.test(text) ? 'error' : undefined;
}
