/**
 * The cells of the protocol table: each kind of client with each kind of upstream. Owns the tag in a test's title that says what the test
 * proves: `{feature: clients > upstreams}`, kinds separated by commas, `*` for all of them, as in `{progress: legacy, sse > *}`. Pure.
 */

/** Streamable HTTP of the legacy era, HTTP+SSE, Streamable HTTP of 2026-07-28; programs of either era behind a connector. */
export const CLIENTS = ['legacy', 'sse', 'modern'] as const;
export const UPSTREAMS = ['legacy', 'sse', 'modern', 'stdio', 'stdio-modern'] as const;

export type ClientKind = (typeof CLIENTS)[number];
export type UpstreamKind = (typeof UPSTREAMS)[number];

export interface Cell {
  client: ClientKind;
  upstream: UpstreamKind;
}

export interface Tag {
  feature: string;
  cells: Cell[];
}

const TAG = /\{([^{}:]+): ([^{}>]+) > ([^{}>]+)\}/g;

function kindsOf<Kind extends string>(text: string, kinds: readonly Kind[]): readonly Kind[] {
  if (text.trim() === '*') return kinds;
  return text.split(',').map(part => {
    const kind = kinds.find(known => known === part.trim());
    if (kind === undefined) throw new Error(`${part.trim()} is none of ${kinds.join(', ')}`);
    return kind;
  });
}

/** Returns the cells that `clients > upstreams` names. Throws if a kind does not exist. */
export function parseCells(text: string): Cell[] {
  const [clients = '', upstreams = '', ...rest] = text.split('>');
  if (rest.length > 0) throw new Error(`${text} is not "clients > upstreams"`);
  const to = kindsOf(upstreams, UPSTREAMS);
  return kindsOf(clients, CLIENTS).flatMap(client => to.map(upstream => ({ client, upstream })));
}

/** Reads the tags in a title. Throws if a kind does not exist. */
export function readTags(title: string): Tag[] {
  return [...title.matchAll(TAG)].map(([, feature = '', clients, upstreams]) => ({
    feature,
    cells: parseCells(`${clients} > ${upstreams}`),
  }));
}

/** A cell as text. */
export const toCellName = ({ client, upstream }: Cell): string => `${client} > ${upstream}`;

/** Every cell, client by client. */
export const ALL_CELLS: readonly Cell[] = parseCells('* > *');
