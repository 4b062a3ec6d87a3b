/** What endpoints that list tools of the gateway's own share: the list, the same bytes for everybody, and how failures of such a tool are told. */
import { MAX_LIST_TTL_MS } from '../catalog/catalog.ts';
import { PorticoError } from '../errors/portico-error.ts';
import { toToolResultText } from '../errors/to-tool-result.ts';
import { IMPLEMENTATION, type Era } from '../protocol.ts';
import { modernMembers } from './list-result.ts';

/** Gives the raw result of `tools/list`. @throws PorticoError `invalid_params` where there is a cursor: there is one page */
export type OwnList = (cursor: string | undefined, era: Era) => Uint8Array;

const encoder = new TextEncoder();

export function createOwnList(tools: readonly object[]): OwnList {
  const items = `"tools":${JSON.stringify(tools)}`;
  const results: Record<Era, Uint8Array> = {
    legacy: encoder.encode(`{${items}}`),
    modern: encoder.encode(`{${modernMembers(MAX_LIST_TTL_MS)}${items}}`),
  };
  return (cursor, era) => {
    if (cursor === undefined) return results[era];
    throw new PorticoError('invalid_params', 'The cursor is not valid; start again without one');
  };
}

/** A failure of the gateway as the raw result of a tool: told as a server of its name would tell it. */
export const ownFailureText = (error: PorticoError): string =>
  toToolResultText(error, IMPLEMENTATION.name);
