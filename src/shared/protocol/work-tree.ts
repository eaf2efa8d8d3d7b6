/**
 * A copy of a program's working directory on another machine: a list of its files, named by their
 * contents. Files travel once, whatever directory and version they belong to; a tree that is there
 * is never changed, so a run keeps its files whatever is launched later.
 */
import { z } from 'zod';

/** Most files and links of a tree. */
export const MOST_TREE_ENTRIES = 10_000;
/** Most bytes of all paths of a tree together, so that its list is one message. */
export const MOST_PATH_BYTES = 4 * 2 ** 20;
/** Most bytes of all files of a tree together. */
export const MOST_TREE_BYTES = 256 * 2 ** 20;
/** Most bytes of files in one request. */
export const MOST_PUT_BYTES = 2 * 2 ** 20;

/** A SHA-256 in lower-case hexadecimal digits. */
export const sha256Schema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected a SHA-256: 64 digits from 0 to f');

const bytes = z.int().min(0).max(MOST_TREE_BYTES);

/** A path below the directory, with `/` between names. */
const pathSchema = z
  .string()
  .min(1)
  .max(4096)
  .refine(
    (path) =>
      !path.includes('\0') &&
      path.split('/').every((name) => !['', '.', '..'].includes(name)),
    'expected a path below the directory',
  );

const fileSchema = z.object({
  path: pathSchema,
  sha256: sha256Schema,
  bytes,
  executable: z.boolean(),
});
const linkSchema = z.object({ path: pathSchema, target: z.string().min(1).max(4096) });

/** A file, or a symbolic link as it is. */
export type TreeEntry = z.infer<typeof fileSchema> | z.infer<typeof linkSchema>;

export const isLink = (
  entry: TreeEntry,
): entry is Extract<TreeEntry, { target: string }> => 'target' in entry;

/** Entries in the order of their paths; none lies below a file or a link of the tree. */
export const treeEntriesSchema = z
  .array(z.union([fileSchema, linkSchema]))
  .min(1)
  .max(MOST_TREE_ENTRIES)
  .superRefine((entries, context) => {
    const paths = new Set(entries.map(({ path }) => path));
    if (paths.size < entries.length) context.addIssue('a path is given twice');
    for (const { path } of entries) {
      const names = path.split('/');
      const above = names.slice(1).map((_, n) => names.slice(0, n + 1).join('/'));
      if (above.some((parent) => paths.has(parent))) {
        context.addIssue(`${path} lies below a file`);
        return;
      }
    }
  })
  .readonly();

/** A file's content, as its bytes are sent. */
export const fileContentSchema = z.object({ sha256: sha256Schema, bytes });

/** A part of a file's content. */
export const filePieceSchema = fileContentSchema.extend({
  /** The part's place in the content; parts come in order. */
  offset: bytes,
  part: z.instanceof(Uint8Array),
});

export type FileContent = Readonly<z.infer<typeof fileContentSchema>>;
export type FilePiece = Readonly<z.infer<typeof filePieceSchema>>;
