/**
 * The gate at the boundary: only calls of AppApi reach the core, and only with
 * arguments that fit `rpcArguments`.
 */
import type { z } from 'zod';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import { plainIssue } from '../../shared/checks/plain-issue.ts';
import { rpcArguments } from '../../shared/rpc/rpc-arguments.ts';
import type { AppApi, CoreApi } from '../../shared/rpc/rpc.ts';
import type { TerminalApi } from '../../shared/rpc/terminal.ts';

export type Call = (...input: unknown[]) => Promise<unknown>;

/**
 * The functions that a session offers, by name: each checks its arguments, then calls
 * the session's own version or the api's. Invalid arguments reject with
 * `RPC_INVALID_ARGUMENTS` before anything happens.
 */
export function gateCalls(
  api: CoreApi,
  own: TerminalApi & Partial<CoreApi>,
): ReadonlyMap<string, Call> {
  const names = Object.keys(rpcArguments) as (keyof AppApi)[];
  const offered: AppApi = { ...api, ...own };
  return new Map(
    names.map((name) => [
      name,
      async (...input) => {
        const parsed = rpcArguments[name].safeParse(input);
        if (!parsed.success) throw invalidArguments(name, parsed.error.issues[0]!);
        // The schemas are those of AppApi's own parameters, name by name.
        return await (offered[name] as Call).apply(api, parsed.data);
      },
    ]),
  );
}

export function unknownCall(name: string): GradwireError {
  const suggestion = nearest(name, Object.keys(rpcArguments));
  return inputError('RPC_UNKNOWN_CALL', `there is no call "${name}"`, {
    place: 'rpc',
    next:
      suggestion === undefined
        ? 'Reload the page so that its version matches Gradwire’s.'
        : `Did you mean "${suggestion}"?`,
  });
}

function invalidArguments(name: string, issue: z.core.$ZodIssue): GradwireError {
  const [position, ...inside] = issue.path;
  const where =
    typeof position === 'number'
      ? ['argument', position + 1, ...(inside.length > 0 ? [inside.join('.')] : [])]
      : ['arguments'];
  return inputError(
    'RPC_INVALID_ARGUMENTS',
    `${name}: ${where.map(String).join(' ')}: ${plainIssue(issue)}`,
    { place: 'rpc', next: 'Correct the value and try again.' },
  );
}
