/** Proxies of the environment, for what main requests from the web. */
import { EnvHttpProxyAgent } from 'undici';
import { inputError } from '../../shared/errors/errors.ts';

/**
 * Uses a proxy if HTTP_PROXY, HTTPS_PROXY and NO_PROXY say so. It belongs to undici's own fetch:
 * Node's ends the process if a server closes a connection before the answer has been read to its
 * end (undici's issue 5360, fixed in its version 8).
 * @throws GradwireError `PROXY_INVALID`
 */
export function proxies(): EnvHttpProxyAgent {
  try {
    return new EnvHttpProxyAgent();
  } catch (error) {
    throw inputError('PROXY_INVALID', `no such proxy: ${(error as Error).message}`, {
      place: 'HTTP_PROXY, HTTPS_PROXY',
      next: 'Set them to URLs such as http://proxy.example:3128.',
    });
  }
}
