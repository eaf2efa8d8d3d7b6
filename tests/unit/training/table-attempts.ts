/** Attempts at svmlight, csv, criteo and trigrams. */
import { file, type Attempts } from './data-attempts.ts';
import { clicks, CRITEO, CSV, HALVES, MARK, SVM, TSV } from './data-samples.ts';

const numbered = (columns: number): string =>
  Array.from({ length: columns }, (_, i) => `,c${i}`).join('');

export const tables: Attempts = {
  '`svmlight`': {
    'labels `+1`, `1` or `1.0` and `-1`': [
      file('svmlight', '+1 1:1\n1 1:1\n1.0 1:1\n-1 1:1\n', { parts: [4, 0] }),
    ],
    'labels 1 and 0': [file('svmlight', '1 1:1\n0 1:1\n', { parts: [2, 0] })],
    'labels −1, 0 and 1 in one file': [
      file('svmlight', '0 1:1\n1 1:1\n-1 1:1\n', {
        says: 'line 3: label "-1", after "0"',
      }),
      file('svmlight', '-1 1:1\n0 1:1\n', { says: 'line 2: label "0", after "-1"' }),
    ],
    'any other label, also `constructor`': [
      ...['constructor', '__proto__', 'toString', '2', '0x1', 'nan', '+', '1:1'].map(
        (label) =>
          file('svmlight', `${SVM}${label} 1:1\n`, {
            says: `line 21: label "${label}"`,
          }),
      ),
    ],
    'feature 0': [file('svmlight', '1 0:1\n-1 1:2\n', { parts: [2, 0] })],
    'features in any order': [file('svmlight', '1 7:1 3:2 5:1\n-1 1:2\n')],
    'a feature twice in a sample': [
      file('svmlight', '1 3:1 3:2\n', { says: 'line 1: feature 3 twice' }),
      file('svmlight', '1 1:1\n1 3:1 1:5 3:1\n', { says: 'line 2: feature 3 twice' }),
    ],
    'a feature above 2³⁰ − 1, negative, or no whole number': [
      ...['1073741824', '4294967297', '-1', '1.5', 'a', '', '1e3'].map((feature) =>
        file('svmlight', `1 1:1\n1 ${feature}:1\n`, {
          says: `line 2: "${feature}:1"`,
        }),
      ),
    ],
    'a feature that is not below `workload.features`': [
      file('svmlight', '1 1:1\n0 5:1\n', {
        ...{
          request: { features: 5 },
          says: 'line 2: feature 5, but workload.features',
        },
      }),
    ],
    'a value too large for 32 bits, such as `1e39`': [
      ...['1e39', '-3.5e38', '1e400', '1'.repeat(400)].map((value) =>
        file('svmlight', `1 1:1\n1 3:${value}\n`, { says: 'line 2: "3:' }),
      ),
    ],
    '`nan`, `inf`, `0x10`, `1_000` or no value': [
      ...['nan', 'NaN', 'inf', '-Infinity', '0x10', '1_000', '1,5', '', '٣'].map(
        (value) =>
          file('svmlight', `1 1:1\n1 3:${value}\n`, { says: `line 2: "3:${value}"` }),
      ),
    ],
    'a sample without features': [file('svmlight', '1\n-1 1:1\n', { parts: [2, 0] })],
    '`qid:3`, and comments after `#` in any encoding': [
      file(
        'svmlight',
        Buffer.from('1 qid:3 1:1 # caf\xe9\n# \xff\n-1 1:1\n', 'latin1'),
        {
          parts: [2, 0],
        },
      ),
    ],
    'a byte that is not UTF-8 outside a comment': [
      file('svmlight', Buffer.from('1 1:1\n1 caf\xe9:1\n', 'latin1'), {
        says: 'line 2, column 6: the byte E9 is not UTF-8',
      }),
    ],
  },
  '`csv`': {
    'quoted values with separators, quotes and line ends': [
      file('csv', 'label,x,y\n0,"a, ""b""",1\n1,"two\nlines, of a text",2\n', {
        parts: [2, 0],
      }),
    ],
    'an empty value': [file('csv', 'label,x,y\n0,,a\n1,2,\n', { says: 'numbers: x' })],
    '`1,5` quoted, `1_000`, `0x10`, `nan` or `inf` in a column': [
      ...['"1,5"', '1_000', '0x10', 'nan', 'inf', '1e999', '٣'].map((value) =>
        file('csv', `label,x\n0,${value}\n1,b\n`, { says: 'categories: x' }),
      ),
    ],
    'the same in a column that `workload.columns.numeric` names': [
      ...['"1,5"', '1_000', '0x10', 'nan', 'inf', '1e999'].map((value) =>
        file('csv', `label,x\n0,1\n1,${value}\n`, {
          request: { columns: { numeric: ['x'] } },
          says: 'line 3: column "x": ',
        }),
      ),
    ],
    'numbers and a few other values in one column': [
      file('csv', 'label,x\n0,1\n1,NA\n0,3\n1,4\n', {
        says: '"x" counts as a category because of "NA" in line 3',
      }),
    ],
    'labels of two values, whatever they are': [
      file('csv', 'label,x\n10,1\n9,1\n', {
        says: 'class 0 is "9", class 1 is "10"',
      }),
      file('csv', 'label,x\n__proto__,1\nconstructor,1\n', {
        says: 'class 0 is "__proto__", class 1 is "constructor"',
      }),
    ],
    'labels of one value or three': [
      file('csv', 'label,x\n1,1\n1,1\n', {
        says: 'has only "1" in the column "label"',
      }),
      file('csv', `${CSV}2,1\n`, { says: 'line 22: column "label": "2"' }),
    ],
    'a row with more or fewer values than the first line': [
      file('csv', `${CSV}1\n`, { says: 'line 22: 1 columns, expected 2' }),
      file('csv', `${CSV}1,2,3\n`, { says: 'line 22: 3 columns, expected 2' }),
    ],
    'a column without a name, or two with one name': [
      file('csv', 'label,,x\n0,1,2\n', { says: 'line 1: column 2 has no name' }),
      file('csv', 'label,x,x\n0,1,2\n', { says: 'column 3 repeats the name "x"' }),
    ],
    'only the line with the names': [
      file('csv', 'label,x\n', { says: 'has no samples' }),
    ],
    'no column for the label': [
      file('csv', 'lable,x\n0,1\n', { says: 'Did you mean' }),
    ],
    'more than 13 numeric or 26 category columns': [
      file(
        'csv',
        `label${numbered(5000)}\n0${',1'.repeat(5000)}\n1${',2'.repeat(5000)}\n`,
        {
          says: '5000 columns of numbers',
        },
      ),
      file('csv', `label${numbered(27)}\n0${',a'.repeat(27)}\n1${',b'.repeat(27)}\n`, {
        says: '27 columns of categories',
      }),
    ],
    'a quote that is opened and not closed': [
      file('csv', 'label,x\n0,1\n1,"2\n', {
        says: 'line 3: column 2: a quote is opened',
      }),
      file('csv', `${'label,x\n0,"1\n'}${'1,2\n0,1\n'.repeat(200)}`, {
        says: 'line 2: column 2: a quote is opened but not closed within the next 400 lines',
      }),
      // Where other values are quoted, the next one's first quote ends it.
      file('csv', 'label,x,y\n0,"a","b"\n1,"c,d\n0,e,f\n1,"g","h"\n', {
        says: 'line 3: column 2: a quote is opened whose closing quote, in line 5, is followed',
      }),
      file('csv', 'label,x\n0,"a"b\n', {
        says: 'line 2: column 2: text after a closing',
      }),
    ],
    'a quote that swallows the lines up to another': [
      file(
        'csv',
        `label,x\n${'0,x\n1,x\n'.repeat(9)}1,"x\n${'0,x\n1,x\n'.repeat(100)}0,x"\n`,
        {
          says: 'line 20: a quoted value reaches over the next 201 lines',
        },
      ),
      file('csv', 'label,x\n0,x\n1,"x\n0,x"\n1,y\n', {
        says: 'line 3: a quoted value reaches over the next line',
      }),
      file('csv', 'x,label,y\na,0,b\nb,1,b\n"a,1,b\na,0,b\na"",1,c",0,d\n', {
        says: 'line 4: a quoted value reaches over the next 2 lines',
      }),
    ],
    'a quoted value of more than 1,000 lines': [
      file('csv', `label,x\n0,1\n1,"${'a b c\n'.repeat(1500)}"\n`, {
        says: 'line 3: column 2: a quote is opened but not closed within the next 1000 lines',
      }),
    ],
    'a quote within a value that is not quoted': [
      file('csv', 'label,x\n0,1\n1,a"b\n', {
        says: 'line 3: column 2: a quote within',
      }),
    ],
    'lines that end with `\\r` alone': [
      file('csv', 'label,x\r0,1\r1,2\r', {
        says: 'line 1, column 8: a carriage return',
      }),
    ],
    'a byte that is not UTF-8, such as é in Latin-1': [
      file('csv', Buffer.from(`${CSV}0,caf\xe8\n1,caf\xe9\n`, 'latin1'), {
        says: 'line 22, column 6: the byte E8 is not UTF-8',
      }),
      file('csv', Buffer.from('label,Z\xfcrich\n', 'latin1'), {
        says: 'line 1, column 8',
      }),
      file(
        'csv',
        Buffer.concat([Buffer.from('label,x\n0,Zürich é '), Buffer.of(0xc3, 10)]),
        {
          says: 'line 2, column 12: the byte C3',
        },
      ),
    ],
  },
  '`criteo`': {
    '40 values, separated by tabs': [file('criteo', CRITEO, { parts: HALVES })],
    'an empty value that is not the label': [file('criteo', CRITEO, { parts: HALVES })],
    'a negative number': [file('criteo', `${CRITEO}${clicks('1', { 2: '-5' })}\n`)],
    'any other number of values': [
      file('criteo', `${CRITEO}${clicks('1')}\t\n`, { says: 'line 21: 41 columns' }),
      file('criteo', '1\t2\n', { says: 'line 1: 2 columns, expected 40' }),
    ],
    'a label that is not 0 or 1': [
      ...['2', '', '-1', '01', 'constructor'].map((label) =>
        file('criteo', `${CRITEO}${clicks(label)}\n`, {
          says: `column 1: "${label}"`,
        }),
      ),
    ],
    'a number with a point, of more than 20 digits, or none': [
      ...['1.5', '1'.repeat(21), '-', '0x1', 'nan', '1e3', '1_000'].map((value) =>
        file('criteo', `${CRITEO}${clicks('1', { 2: value })}\n`, {
          says: `line 21: column 2: "${value}"`,
        }),
      ),
    ],
    'a category with other than 16 hexadecimal digits at most': [
      ...['xyz', '0'.repeat(17), 'é', '0x1'].map((value) =>
        file('criteo', `${CRITEO}${clicks('1', { 40: value })}\n`, {
          says: `line 21: column 40: "${value}"`,
        }),
      ),
    ],
    'samples of one class only': [
      file('criteo', `${clicks('1')}\n`, { says: 'only the label 1' }),
      file('criteo', `${clicks('0')}\n`, { says: 'only the label 0' }),
    ],
  },
  '`trigrams`': {
    'a label, a tab and a text in each line': [
      file('trigrams', TSV, { parts: HALVES, says: 'class 0 is "ham"' }),
    ],
    'a first line with the label `label` or `class`': [
      ...['label', 'Label', 'CLASS', `${MARK}class`].map((name) =>
        file('trigrams', `${name}\ttext\n${TSV}`, {
          parts: HALVES,
          says: 'the first line names the columns',
        }),
      ),
    ],
    'any other label that only one line has, besides two': [
      file('trigrams', `Spam\tprize\n${TSV}`, {
        says: 'line 1: no other line has the label "Spam"',
      }),
      file('trigrams', `${TSV}hma\tprize\n`, {
        says: 'line 21: no other line has the label',
      }),
    ],
    'one label, or more than two': [
      file('trigrams', 'ham\ta\nham\tb\n', { says: '1 labels ("ham")' }),
      file('trigrams', `${TSV}a\tx\na\tx\n`, { says: '3 labels' }),
      file('trigrams', 'a\tx\nb\tx\nc\tx\nd\tx\n', { says: 'more than 3 labels' }),
    ],
    'a line without a label or without a tab': [
      file('trigrams', `${TSV}no tab\n`, { says: 'line 21: no label' }),
      file('trigrams', `${TSV}\ttext\n`, { says: 'line 21: no label' }),
    ],
    'a text of fewer than three bytes': [file('trigrams', `${TSV}ham\t\nham\tab\n`)],
    'labels or texts that are not UTF-8': [
      file('trigrams', Buffer.from(`${TSV}caf\xe9\tx\n`, 'latin1'), {
        says: 'line 21, column 4: the byte E9',
      }),
      file('trigrams', Buffer.from(`${TSV}ham\tcaf\xe9\n`, 'latin1'), {
        says: 'line 21, column 8: the byte E9',
      }),
    ],
  },
};
