/** The user's own directory. */
import os from 'node:os';
import path from 'node:path';
import { failure } from '../../shared/errors/errors.ts';

/**
 * `HOME` if it is a path. An empty or relative one would lead into whatever directory a command is
 * typed in; then it is the one that the system knows.
 * @throws GradwireError `HOME_UNUSABLE`: the system knows none, as of a user with a bare number
 */
export function userHome(): string {
  try {
    const chosen = os.homedir();
    return path.isAbsolute(chosen) ? chosen : os.userInfo().homedir;
  } catch {
    throw failure('HOME_UNUSABLE', 'this user has no home directory', {
      next: 'Set GRADWIRE_HOME to a directory that is yours and that you may write to.',
    });
  }
}
