/** CSV that a spreadsheet reads as intended. */
import { expect, it } from 'vitest';
import { toCsvLine } from '../../../src/shared/util/csv.ts';

it('[OPS-7] is text, never a formula', () => {
  for (const start of ['=', '+', '-', '@', '\t']) {
    expect(toCsvLine([`${start}SUM(A1)`])).toBe(`'${start}SUM(A1)\r\n`);
  }
  expect(toCsvLine(['\rx'])).toBe(`"'\rx"\r\n`);
  expect(toCsvLine([-1, 0, 2.5, null, undefined, ''])).toBe('-1,0,2.5,,,\r\n');
});

it('[OPS-7] quotes characters that would end a field', () => {
  expect(toCsvLine(['a,b', 'say "hi"', 'two\nlines', 'plain'])).toBe(
    '"a,b","say ""hi""","two\nlines",plain\r\n',
  );
});
