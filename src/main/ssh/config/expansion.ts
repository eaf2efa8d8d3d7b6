/**
 * ~, %-tokens and ${VARIABLES} in values of ssh_config(5), as far as they are supported here.
 */
import { configInvalid } from './config-file.ts';

export interface ExpansionContext {
  /** %d and ~ */
  readonly home: string;
  /** %n: the name as it was given. */
  readonly name: string;
  /** %h */
  readonly host: string;
  /** %p */
  readonly port: number;
  /** %r: the user there. */
  readonly user: string;
  /** %u: the user here. */
  readonly localUser: string;
  /** %k: the host key's alias, or the name. */
  readonly alias: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** @throws GradwireError `SSH_CONFIG_INVALID` for an unknown token or variable */
export function expandPath(text: string, context: ExpansionContext): string {
  const withTokens = expandTokens(text, {
    d: context.home,
    h: context.host,
    k: context.alias,
    n: context.name,
    p: String(context.port),
    r: context.user,
    u: context.localUser,
  });
  const withVariables = withTokens.replace(/\$\{([^}]*)\}/g, (_, variable: string) => {
    const value = context.environment[variable];
    if (value === undefined) throw configInvalid(`\${${variable}} is not set`, text);
    return value;
  });
  return withVariables.replace(/^~(?=\/|$)/, context.home);
}

export function expandTokens(
  text: string,
  tokens: Readonly<Record<string, string>>,
): string {
  return text.replace(/%(.?)/g, (token, letter: string) => {
    if (letter === '%') return '%';
    const value = tokens[letter];
    if (value === undefined)
      throw configInvalid(`${token} is not supported here`, text);
    return value;
  });
}
