/**
 * Where the app's window may send the user's browser: https pages of the places that its
 * texts cite, nothing else. A link is content; a `file:`, a custom scheme or a look-alike
 * host handed to the operating system would be a way to run things.
 */
const CITED_HOSTS: readonly string[] = ['arxiv.org', 'doi.org', 'dl.acm.org'];

export function mayOpenOutside(address: string): boolean {
  const url = URL.parse(address);
  return (
    url !== null &&
    url.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    CITED_HOSTS.includes(url.hostname)
  );
}
