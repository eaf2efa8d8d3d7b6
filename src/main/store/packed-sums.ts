/**
 * Records of buckets' sums as they are stored: deflated JSON, which begins with what such records
 * have in common, so that a record of four buckets takes a third of its space.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { BucketSumsRecord } from '../../shared/records/bucket-sums.ts';

/** Stored records depend on it: it stays as it is, whatever fields are added. */
const dictionary = Buffer.from(
  '{"type":"bucket-sums","at":17,"rank":0,"from":0,"to":16,"exchanges":16,"agreement":0.1,' +
    '"buckets":[{"name":"layer.weight … layer.bias","tensors":2,"method":"",' +
    '"collective":"ring","length":1000,"compress":0.1,"send":0.1,"receive":0.1,"wait":0.1,' +
    '"reduce":0.1,"decompress":0.1,"hidden":0.1,"begin":0.1,"end":0.1,"payload":1000,' +
    '"sent":1000,"nnzLocal":10,"nnzReduced":10,"residualNorm":0.1,"error":0.9}]}',
);

/** Packs a record's JSON. */
export const packSums = (json: string): Buffer => deflateRawSync(json, { dictionary });

export const unpackSums = (packed: Uint8Array): BucketSumsRecord =>
  JSON.parse(inflateRawSync(packed, { dictionary }).toString()) as BucketSumsRecord;
