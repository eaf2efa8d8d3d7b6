/**
 * The pages that the app's window may open in the user's browser: https pages of sites
 * that its texts cite, nothing else. Links are untrusted content: a `file:`, a custom
 * scheme or a look-alike host passed to the operating system could run programs.
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
