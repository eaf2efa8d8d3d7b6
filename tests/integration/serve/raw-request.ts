/**
 * HTTP as it is on the wire: the target and headers exactly as given, which `fetch` would
 * tidy up or forbid. One request per connection.
 */
import http from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** As they came: a body that is compressed still is. */
  readonly bytes: Buffer;
}

export interface RawRequest {
  readonly port: number;
  readonly target?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function rawRequest(request: RawRequest): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      host: '127.0.0.1',
      port: request.port,
      path: request.target ?? '/',
      method: request.method ?? 'GET',
      headers: { ...request.headers },
      agent: false,
    });
    outgoing.once('error', reject);
    outgoing.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: '',
        bytes: Buffer.alloc(0),
      });
    });
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: bytes.toString(),
          bytes,
        });
      });
    });
    outgoing.end();
  });
}

/** A WebSocket's opening request, answered with 101 or a refusal. */
export function rawUpgrade(request: RawRequest): Promise<RawAnswer> {
  return rawRequest({
    ...request,
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...request.headers,
    },
  });
}
