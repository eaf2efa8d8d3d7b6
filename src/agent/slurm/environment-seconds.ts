/** Times that tests set in the environment. */
import { inputError } from '../../shared/errors/errors.ts';

/** @throws GradwireError `ENVIRONMENT_INVALID` */
export function environmentSeconds(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text.trim() !== '' && seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw inputError('ENVIRONMENT_INVALID', `${name}="${text}" is no number of seconds`, {
    place: name,
    next: 'Remove the variable, or give a positive number.',
  });
}
