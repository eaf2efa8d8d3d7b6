/**
 * The environment that `gradwire exec` gives to a program on this computer: what chooses its
 * Python and its libraries, as in the user's shell. The supervisor may have been started elsewhere.
 * Not the whole: a spec is stored, and variables may be secret.
 */
import { inputError } from '../../shared/errors/errors.ts';

const PASSED =
  /^(PATH|VIRTUAL_ENV|PYTHON[A-Z_]*|LD_LIBRARY_PATH|LD_PRELOAD|(CONDA|OMP|MKL|KMP|OPENBLAS|CUDA|TORCH|NCCL|GLOO)_[A-Z0-9_]*)$/;

/**
 * @param wanted `NAME`, with its value here, or `NAME=value`
 * @param isHere whether all ranks are on this computer
 * @throws GradwireError `ENVIRONMENT_INVALID`
 */
export function programEnvironment(
  wanted: readonly string[],
  isHere: boolean,
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(isHere ? environment : {})) {
    if (value !== undefined && PASSED.test(name)) passed[name] = value;
  }
  for (const text of wanted) {
    const equals = text.indexOf('=');
    const name = equals < 0 ? text : text.slice(0, equals);
    const value = equals < 0 ? environment[name] : text.slice(equals + 1);
    if (value === undefined) {
      throw inputError('ENVIRONMENT_INVALID', `${name} is not set`, {
        place: `--env ${text}`,
        next: 'Set it, or give its value: --env NAME=value.',
      });
    }
    passed[name] = value;
  }
  return passed;
}
