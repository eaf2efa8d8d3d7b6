/** The Python with PyTorch that `npm test` has made (scripts/python-environment.ts). */
import path from 'node:path';
import { hasPython, pythonFile } from '../../scripts/python-environment.ts';

/** Undefined where it could not be made: `npm test` has said why, and its tests are skipped. */
export const pytorch = hasPython('tests') ? pythonFile : undefined;

/** The same Python, if it also has Lightning and Hugging Face's Trainer. */
export const frameworks =
  pytorch !== undefined && hasPython('frameworks') ? pytorch : undefined;

/** The folder with the package that a program imports as `gradwire`. */
export const packageSources = path.join(
  import.meta.dirname,
  '../../python/gradwire/src',
);
