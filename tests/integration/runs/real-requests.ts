/** Requests of a supervisor as an app makes them, for tests that change them. */
export const request = { type: 'request', id: 7 };
const secret = new Uint8Array(32);
export const address = { host: '127.0.0.1', port: 9, hosts: ['::1'], pulse: 10 };
const plan = { method: 'topk', parameters: { ratio: 0.1 }, collective: 'ring' };
export const planned = {
  epoch: 1,
  notBefore: 3,
  residual: 'flush',
  plan: { ...plan, bucketBytes: 4096, layers: [{ ...plan, match: '*' }] },
};

export const begin = { method: 'begin', body: { run: 'good', addresses: [address] } };
export const prepare = {
  method: 'prepare',
  body: { run: 'new', spec: {}, switches: [], ranks: [0], secret },
};

/** Requests as an app makes them, none of which would start a process or end the run. */
export const REAL = [
  { method: 'ping', body: {} },
  { method: 'runs', body: {} },
  { method: 'validate', body: { spec: { workload: { model: 'none' }, seed: -1 } } },
  {
    method: 'prepare',
    body: {
      ...prepare.body,
      spec: { workload: { model: 'none' }, seed: -1 },
      switches: [{ change: { method: 'topk' }, at: 5, residual: 'drop' }],
      network: {
        alpha: 1e-6,
        beta: 1e-9,
        gamma: 1e-10,
        rates: [{ bytes: 8, beta: 0 }],
      },
      places: [0],
      node: 'box',
      listen: '::',
      ports: { first: 2000, last: 3000 },
      slurm: { partition: 'gpu', setup: ['module load x'], options: ['--qos=high'] },
    },
  },
  {
    method: 'prepare',
    body: { ...prepare.body, resume: { iteration: 4, schedule: [planned] } },
  },
  { method: 'begin', body: { run: 'nobody', addresses: [address, address] } },
  { method: 'begin', body: { run: 'good', addresses: [address, address] } },
  { method: 'switch', body: { run: 'nobody', change: { method: 'topk', ratio: 0.1 } } },
  { method: 'adopt', body: { run: 'nobody', switches: [planned] } },
  { method: 'stop', body: { run: 'nobody' } },
  {
    method: 'abort',
    body: {
      run: 'nobody',
      error: { code: 'X', kind: 'failure', message: 'x', rank: 1 },
    },
  },
  { method: 'subscribe', body: { run: 'good', after: 3 } },
  { method: 'unsubscribe', body: { run: 'good' } },
  { method: 'acknowledge', body: { run: 'good', sequence: 5 } },
  {
    method: 'timeLink',
    body: { link: 'l', end: 0, addresses: [address, address], secret, encrypt: true },
  },
  { method: 'closeLink', body: { link: 'l' } },
  {
    method: 'measureNetwork',
    body: { ranks: 1, transport: 'pigeon', effort: 'none' },
  },
];
