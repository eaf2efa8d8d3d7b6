/**
 * Sends an alert to a user's webhook, through a proxy if the environment names one. Redirects are
 * refused: the user named one address.
 */
import { failure } from '../../shared/errors/errors.ts';

/**
 * Resolves once the address has answered with success.
 * @throws GradwireError `ALERT_NOT_DELIVERED`, `PROXY_INVALID` (rejects)
 */
export async function postAlert(
  address: string,
  body: string,
  signal: AbortSignal,
): Promise<void> {
  // Loaded on demand: most runs post nothing.
  const [{ fetch }, { proxies }] = await Promise.all([
    import('undici'),
    import('../http/proxies.ts'),
  ]);
  const dispatcher = proxies();
  let fault: string | undefined;
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'error',
      dispatcher,
      signal,
    });
    await response.body?.cancel();
    if (!response.ok) fault = `answered with ${response.status}`;
  } catch (error) {
    fault = signal.aborted ? 'took longer than 10 s' : `failed: ${causeOf(error)}`;
  } finally {
    // Its connections would stay open for a while.
    await dispatcher.destroy();
  }
  if (fault === undefined) return;
  // Its path may be a secret.
  const { host } = new URL(address);
  throw failure('ALERT_NOT_DELIVERED', `the webhook at ${host} ${fault}`, {
    place: 'notify.webhook',
    next: 'Check the address in the settings.',
  });
}

/** `fetch` says only that it failed; its cause says why. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const reason = cause instanceof Error ? cause : error;
  return reason instanceof Error ? reason.message : String(reason);
}
