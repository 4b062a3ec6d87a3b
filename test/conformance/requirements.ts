/**
 * What each revision of the protocol requires, from the suite's own frozen lists. Reads the subset of YAML that they use and refuses an
 * empty list, so that a change of their format cannot make an empty run pass.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];
/** Whether the gateway is the server or the client. The suite names the side after what it tests. */
export type Side = 'server' | 'client';

/** A scenario that the suite does not score but that this run requires to pass: the gateway signs in by itself. */
export const CLIENT_CREDENTIALS = 'auth/client-credentials-basic';

export interface Requirements {
  revision: Revision;
  required: Record<Side, string[]>;
  /** Run and reported, never counted, with the suite's reason. */
  notScored: Record<Side, Map<string, string>>;
}

/** The scenarios of a side: all that the revision names, or only the requested one, if it names it. */
export function scenariosOf(
  { required, notScored }: Requirements,
  side: Side,
  only: string | undefined,
): string[] {
  const all = [...required[side], ...notScored[side].keys()];
  return only === undefined ? all : all.filter(name => name === only);
}

export const SUITE = new URL(
  '../../node_modules/@modelcontextprotocol/conformance/',
  import.meta.url,
);

/** Reads the requirements of a revision. */
export function readRequirements(revision: Revision): Requirements {
  const file = fileURLToPath(new URL(`requirements/${revision}.yaml`, SUITE));
  const required: Requirements['required'] = { server: [], client: [] };
  const notScored: Requirements['notScored'] = { server: new Map(), client: new Map() };
  let section = '';
  let scenario = '';
  let side: Side = 'server';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    section = /^(\w+):$/.exec(line)?.[1] ?? section;
    const name = /^ {2}- ([\w/-]+)$/.exec(line)?.[1];
    if (name !== undefined && (section === 'server' || section === 'client')) {
      required[section].push(name);
    }
    const [, key, value] = /^ {2}[- ] (scenario|leg|reason): (\S+)$/.exec(line) ?? [];
    if (key === 'scenario') scenario = value ?? '';
    if (key === 'leg') side = value === 'client' ? 'client' : 'server';
    if (key === 'reason') notScored[side].set(scenario, value ?? '');
  }
  if (required.server.length === 0 || required.client.length === 0) {
    throw new Error(`The suite's requirements of ${revision} cannot be read`);
  }
  return { revision, required, notScored };
}
