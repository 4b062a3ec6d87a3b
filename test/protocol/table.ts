/**
 * The protocol table: combines the manifest and the titles of the tests, into sentences where they disagree and into Markdown where they
 * agree. Owns where the table stands in its document. Pure.
 */
import { ALL_CELLS, parseCells, toCellName } from './cells.ts';
import type { Tag } from './cells.ts';
import type { Absence, Feature } from './features.ts';

/** What one cell of a feature shows. */
interface Entry {
  mark: 'yes' | '–' | 'no';
  reason?: string;
}

/** The command that writes the table. */
export const COMMAND = 'npm run protocol-table';
const BEGIN = `<!-- Written by \`${COMMAND}\` from test/protocol/features.ts and the titles of the tests. -->`;
const END = '<!-- End of what is written. -->';

function toReasons(absences: readonly Absence[] = []): Map<string, string> {
  return new Map(
    absences.flatMap(([cells, reason]) =>
      parseCells(cells).map(cell => [toCellName(cell), reason] as const),
    ),
  );
}

/** Collects the entries of each cell by its name; more than one entry or none is an error. */
function readFeature({ none, missing }: Feature, proven: ReadonlySet<string>) {
  const [never, notYet] = [toReasons(none), toReasons(missing)];
  return ALL_CELLS.map(toCellName).map(name => {
    const entries: Entry[] = [];
    if (proven.has(name)) entries.push({ mark: 'yes' });
    for (const [reasons, mark] of [[never, '–'] as const, [notYet, 'no'] as const]) {
      const reason = reasons.get(name);
      if (reason !== undefined) entries.push({ mark, reason });
    }
    return { name, entries };
  });
}

function collectProofs(tags: readonly Tag[]): Map<string, Set<string>> {
  const proofs = new Map<string, Set<string>>();
  for (const { feature, cells } of tags) {
    const proven = proofs.get(feature) ?? new Set();
    for (const cell of cells) proven.add(toCellName(cell));
    proofs.set(feature, proven);
  }
  return proofs;
}

/** Returns one sentence for each disagreement between the manifest and the tags of the tests. */
export function checkFeatures(features: readonly Feature[], tags: readonly Tag[]): string[] {
  const proofs = collectProofs(tags);
  const ids = features.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  return [
    ...twice.map(id => `${id} is in the manifest twice`),
    ...[...proofs.keys()]
      .filter(id => !ids.includes(id))
      .map(id => `a test proves ${id}, which is not in the manifest`),
    ...features.flatMap(feature =>
      readFeature(feature, proofs.get(feature.id) ?? new Set()).flatMap(({ name, entries }) => {
        if (entries.length === 1) return [];
        if (entries.length === 0) return [`${feature.id}, ${name}: no test and no reason`];
        const marks = entries.map(({ mark, reason }) => reason ?? mark).join(' / ');
        return [`${feature.id}, ${name} is more than one thing: ${marks}`];
      }),
    ),
  ];
}

/** Formats rows of cells as an aligned Markdown table. */
function toMarkdown(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(3, ...rows.map(row => row[at]?.length ?? 0)),
  );
  const lines = rows.map(row => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | '));
  const rule = widths.map(width => '-'.repeat(width)).join(' | ');
  return [lines[0] ?? '', rule, ...lines.slice(1)].map(line => `| ${line} |`).join('\n');
}

/** Formats the table with its reasons. */
export function toTable(features: readonly Feature[], tags: readonly Tag[]): string {
  const proofs = collectProofs(tags);
  const reasons: string[] = [];
  const toText = ({ mark, reason }: Entry): string => {
    if (reason === undefined) return mark;
    if (!reasons.includes(reason)) reasons.push(reason);
    return `${mark} ${reasons.indexOf(reason) + 1}`;
  };
  const head = ALL_CELLS.map(({ client, upstream }) => `${client} → ${upstream}`);
  const rows = features.map(feature => [
    `\`${feature.id}\``,
    ...readFeature(feature, proofs.get(feature.id) ?? new Set()).map(({ entries }) =>
      entries.map(toText).join(' / '),
    ),
    feature.requirements.join(', '),
  ]);
  const notes = reasons.map((reason, at) => `${at + 1}. ${reason}`).join('\n');
  return `${toMarkdown([['feature', ...head, 'requirement'], ...rows])}\n\n${notes}`;
}

/** Returns the document with the table put in its place, which a mark begins. Throws if the document has no such place. */
export function writeInto(document: string, table: string, mark = BEGIN): string {
  const [begin, end] = [document.indexOf(mark), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('The document has no place for the table');
  return `${document.slice(0, begin)}${mark}\n\n${table}\n\n${document.slice(end)}`;
}
