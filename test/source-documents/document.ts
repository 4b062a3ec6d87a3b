/**
 * The lines of the documents that Portico was made from, and what it does of each: `docs/source-documents.md` is made of them. A test file for each
 * document has a test for every line; leaving one out does not compile.
 */

/** A line of a document: a criterion, an example, an error text, a number. */
export interface DocumentLine {
  /** Unique within its document: `P1`. */
  readonly id: string;
  /** What it says, in a few words. */
  readonly says: string;
  /** What Portico does otherwise; absent where it does what the line says. */
  readonly does?: string;
  /** The reason for that. */
  readonly why?: string;
}

export interface SourceDocument {
  readonly title: string;
  /** How it was asked, for who reads the table. */
  readonly asked: string;
  /** The tests that show it, from the root of the project; absent where tests cite its lines, wherever they are. */
  readonly tests?: readonly string[];
  readonly lines: readonly DocumentLine[];
}

export const COMMAND = 'npm run documents-table';

/** What the tables stand behind. */
export const MARK = `<!-- Written by \`${COMMAND}\` from test/source-documents. -->`;

const toRow = ({ id, says, does, why }: DocumentLine): string =>
  `| ${id} | ${says} | ${does === undefined ? 'works' : `differs: ${does}`} | ${why ?? ''} |`;

const toProof = (tests: readonly string[] | undefined) =>
  tests === undefined
    ? 'Each line is shown by the tests whose titles cite it.'
    : `Shown by ${tests.map(test => `\`${test}\``).join(' and ')}.`;

function toSection({ title, asked, tests, lines }: SourceDocument): string {
  const differing = lines.filter(({ does }) => does !== undefined).length;
  return [
    `## ${title}`,
    '',
    `${lines.length} lines, of which ${lines.length - differing} work and ${differing} differ. ${asked} ${toProof(tests)}`,
    '',
    '| Line | It says | Portico | Why |',
    '| --- | --- | --- | --- |',
    ...lines.map(toRow),
  ].join('\n');
}

/** The tables of all documents. */
export const toTables = (documents: readonly SourceDocument[]): string =>
  documents.map(toSection).join('\n\n');

/** What is wrong with the lines: ids that are there twice, differences without a reason. */
export const checkDocuments = (documents: readonly SourceDocument[]): string[] =>
  documents.flatMap(({ title, lines }) =>
    lines.flatMap(({ id, does, why }, at) => [
      ...(lines.findIndex(line => line.id === id) === at ? [] : [`${title}: ${id} is there twice`]),
      ...((does === undefined) === (why === undefined)
        ? []
        : [`${title}: ${id} has a difference or a reason, not both`]),
    ]),
  );
