/** The key of a server's access token in the browser's storage, which each port has for itself. */
export const ACCESS_TOKEN_KEY = 'gradwire.access-token';
