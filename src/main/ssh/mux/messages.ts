/** Message numbers: RFC 4250, section 4.1.2, and OpenSSH's PROTOCOL.mux. */

export const MUX_VERSION = 4;

export const MUX = {
  hello: 0x00000001,
  proxy: 0x1000000f,
  proxyGranted: 0x8000000f,
  permissionDenied: 0x80000002,
  failure: 0x80000003,
} as const;

export const SSH = {
  globalRequest: 80,
  requestFailure: 82,
  channelOpen: 90,
  channelOpenConfirmation: 91,
  channelOpenFailure: 92,
  channelWindowAdjust: 93,
  channelData: 94,
  channelExtendedData: 95,
  channelEof: 96,
  channelClose: 97,
  channelRequest: 98,
  channelSuccess: 99,
  channelFailure: 100,
} as const;

/** Reasons of a server that refuses a channel (RFC 4254, section 5.1), if it gives no text. */
export const OPEN_FAILURES: Readonly<Record<number, string>> = {
  1: 'administratively prohibited',
  2: 'the connection failed',
  3: 'unknown channel type',
  4: 'resource shortage',
};
