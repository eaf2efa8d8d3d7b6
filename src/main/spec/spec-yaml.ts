/** Specs as YAML, one section per line. */
import { Document, isMap, isScalar, Scalar } from 'yaml';

/** A raw or validated spec as YAML text. */
export function specToYaml(spec: unknown): string {
  const document = new Document(spec);
  if (isMap(document.contents)) {
    for (const { value } of document.contents.items) {
      if (!isMap(value)) continue;
      const texts = value.items.map((pair) => pair.value).filter(hasLines);
      value.flow = texts.length === 0;
      for (const text of texts) text.type = Scalar.BLOCK_LITERAL;
    }
  }
  return document.toString({ lineWidth: 100, flowCollectionPadding: true });
}

/** Text with several lines, which reads better as a block. */
const hasLines = (value: unknown): value is Scalar =>
  isScalar(value) && typeof value.value === 'string' && value.value.includes('\n');
