/**
 * Public data sets that can be fetched by name. A set is listed only if the SHA-256 of its
 * publisher's files is known, so that the files are the ones that others have trained on,
 * whatever the mirror. A new set is one entry.
 */

/** A published file. */
export interface PublicFile {
  readonly name: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface PublicSet {
  readonly id: string;
  readonly title: string;
  /** The set's authors and terms, in their words. */
  readonly source: string;
  /** The keys of a spec for runs on it, except for the path. */
  readonly workload: { readonly dataset: string; readonly model: string };
  /** The part of the set's directory for `workload.data`; default: the directory. */
  readonly data?: string | undefined;
  /** URL prefixes, tried in this order; the file's name is appended. */
  readonly mirrors: readonly string[];
  /** The files that training reads. */
  readonly files: readonly PublicFile[];
  /** A gzipped tar that contains the files, and their folder in it. */
  readonly archive?: (PublicFile & { readonly folder: string }) | undefined;
}

const CIFAR_BATCH_BYTES = 10_000 * (1 + 3 * 32 * 32);
const cifarBatch = (name: string, sha256: string): PublicFile => ({
  name,
  bytes: CIFAR_BATCH_BYTES,
  sha256,
});

export const publicSets: readonly PublicSet[] = [
  {
    id: 'mnist',
    title: 'MNIST: handwritten digits',
    source: 'Y. LeCun, C. Cortes, C. J. C. Burges; CC BY-SA 3.0',
    workload: { dataset: 'mnist', model: 'fnn3' },
    mirrors: [
      'https://ossci-datasets.s3.amazonaws.com/mnist/',
      'https://storage.googleapis.com/cvdf-datasets/mnist/',
    ],
    files: [
      {
        name: 'train-images-idx3-ubyte.gz',
        bytes: 9_912_422,
        sha256: '440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609',
      },
      {
        name: 'train-labels-idx1-ubyte.gz',
        bytes: 28_881,
        sha256: '3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c',
      },
      {
        name: 't10k-images-idx3-ubyte.gz',
        bytes: 1_648_877,
        sha256: '8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6',
      },
      {
        name: 't10k-labels-idx1-ubyte.gz',
        bytes: 4_542,
        sha256: 'f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6',
      },
    ],
  },
  {
    id: 'fashion-mnist',
    title: 'Fashion-MNIST: pictures of clothes, in MNIST’s format',
    source: 'Zalando Research; MIT licence',
    workload: { dataset: 'mnist', model: 'fnn3' },
    mirrors: [
      'http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/',
      'https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/',
    ],
    files: [
      {
        name: 'train-images-idx3-ubyte.gz',
        bytes: 26_421_880,
        sha256: '3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84',
      },
      {
        name: 'train-labels-idx1-ubyte.gz',
        bytes: 29_515,
        sha256: 'a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845',
      },
      {
        name: 't10k-images-idx3-ubyte.gz',
        bytes: 4_422_102,
        sha256: '346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073',
      },
      {
        name: 't10k-labels-idx1-ubyte.gz',
        bytes: 5_148,
        sha256: '67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5',
      },
    ],
  },
  {
    id: 'cifar-10',
    title: 'CIFAR-10: small colour pictures',
    source: 'A. Krizhevsky, V. Nair, G. Hinton, University of Toronto',
    workload: { dataset: 'cifar-10', model: 'resnet-20' },
    mirrors: ['https://www.cs.toronto.edu/~kriz/'],
    files: [
      cifarBatch(
        'data_batch_1.bin',
        'cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5',
      ),
      cifarBatch(
        'data_batch_2.bin',
        'a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed',
      ),
      cifarBatch(
        'data_batch_3.bin',
        'bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67',
      ),
      cifarBatch(
        'data_batch_4.bin',
        '014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48',
      ),
      cifarBatch(
        'data_batch_5.bin',
        '755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add',
      ),
      cifarBatch(
        'test_batch.bin',
        '8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b',
      ),
    ],
    archive: {
      name: 'cifar-10-binary.tar.gz',
      bytes: 170_052_171,
      sha256: 'c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd',
      folder: 'cifar-10-batches-bin',
    },
  },
  {
    id: 'tiny-shakespeare',
    title: 'Tiny Shakespeare: scenes from his plays',
    source: 'A. Karpathy, char-rnn; the text is in the public domain',
    workload: { dataset: 'text-characters', model: 'transformer-small' },
    data: 'input.txt',
    mirrors: [
      'https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/',
    ],
    files: [
      {
        name: 'input.txt',
        bytes: 1_115_394,
        sha256: '86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed',
      },
    ],
  },
];
