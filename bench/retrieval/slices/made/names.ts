/** Requests that name tools, in all ways to write a name. */
import type { Corpus, Request } from '../../corpus.ts';
import type { MadeRequest } from './made-request.ts';

const toParts = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(part => part !== '');
const capitalise = (part: string): string => `${part.charAt(0).toUpperCase()}${part.slice(1)}`;
const toCamel = (parts: readonly string[]): string =>
  parts.map((part, i) => (i === 0 ? part : capitalise(part))).join('');

/** Returns a name in each form. @param server parts of its name @param tool parts of its name */
function listForms(server: readonly string[], tool: readonly string[]): string[] {
  const both = [...server, ...tool];
  return [
    tool.join('_'),
    both.join('_'),
    `mcp__${server.join('_')}__${tool.join('_')}`,
    toCamel(tool),
    tool.join(''),
    tool.join('-'),
    `use ${tool.join('_')} for this, please`,
    `Can you call the tool ${both.join('-')} now?`,
  ];
}

/** The first tool of a request by name, in each form; or several tools at once, in one form. */
export function toNameRequests(
  request: Request,
  below: (limit: number) => number,
  corpus: Corpus,
  count: number,
): MadeRequest[] {
  const all = corpus.servers.flatMap(server =>
    server.tools.map(({ id, tool }) => ({ id, server, parts: toParts(tool.name) })),
  );
  const first = all.find(({ id }) => request.relevant.has(id));
  if (!first) return [];
  const chosen = [first];
  while (chosen.length < count) {
    const other = all[below(all.length)];
    if (other && chosen.every(one => one.parts.join() !== other.parts.join())) chosen.push(other);
  }
  const named = chosen.map(({ server, parts, id }) => ({
    forms: listForms(toParts(server.name), parts),
    // If only the name is given, a tool with the same name on another server is right too.
    same: new Set(all.filter(one => one.parts.join('') === parts.join('')).map(one => one.id)),
    own: new Set([id]),
  }));
  if (count === 1) {
    const [{ forms, same, own } = { forms: [], same: new Set(''), own: new Set('') }] = named;
    return forms.map((query, i) => ({ query, tasks: [[1, 2, 7].includes(i) ? own : same] }));
  }
  const form = below(6);
  const query = named.map(({ forms }) => forms[form] ?? '').join(' and ');
  return [{ query, tasks: named.map(({ same }) => same) }];
}
