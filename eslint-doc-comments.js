/**
 * An ESLint rule for the first word of a doc comment: the thing that it is about. A comment
 * that begins with a conjunction, a preposition or a pronoun leaves the reader to guess it.
 */

/** First words that name no subject. After "One", a noun does ("One rank of …"). */
export const withoutSubject = [
  ...['What', 'Which', 'Who', 'Whose', 'Where', 'Why', 'How'],
  ...['It', 'Its', 'They', 'Their', 'This', 'That', 'These', 'Those', 'Such'],
  ...['Of', 'As', 'In', 'On', 'At', 'By', 'To', 'With', 'Without', 'From', 'For', 'If'],
  ...['Before', 'After', 'Until', 'While', 'During', 'Since', 'Once', 'Also', 'Per'],
  ...['Between', 'Among', 'Within', 'Under', 'Over', 'Behind', 'Beside', 'Through'],
  ...['Same', 'Undefined', 'One of', 'One that', 'One for', 'One more'],
];

/** The beginning of a comment's text. A compound such as "At-most-once" is a word of its own. */
const BEGINNING = new RegExp(`^\\*[\\s*]*(${withoutSubject.join('|')})(?![\\w-])`, 'i');

export const docSubjectRule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      noSubject:
        'A doc comment first names what it is about, and "{{word}}" does not: begin with a ' +
        'noun ("Bytes that …", "The end; undefined if …"), a verb ("Returns …") or "Whether …".',
    },
  },
  create({ report, sourceCode }) {
    return {
      Program() {
        for (const { loc, type, value } of sourceCode.getAllComments()) {
          const word = type === 'Block' ? BEGINNING.exec(value)?.[1] : undefined;
          if (word !== undefined)
            report({ loc, messageId: 'noSubject', data: { word } });
        }
      },
    };
  },
};
