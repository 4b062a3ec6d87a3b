/**
 * URIs of resources in results of tools and prompts, as an endpoint of many servers gives them: qualified like those it lists,
 * so that a link is read from the server that gave it and from no other. Every other byte stays. Pure.
 */
import type { JsonObject } from '../../shared/protocol.ts';
import { editBlocks, within } from '../results/content-blocks.ts';
import { toQualifiedUri } from '../../shared/naming/qualified-uri.ts';

/**
 * @param result raw result of a call or a prompt, or a task that has one
 * @param parsed the same parsed: a result without links is not read again
 */
export function withQualifiedLinks(result: string, parsed: JsonObject, server: string): string {
  const qualify = within('uri', raw => {
    const uri: unknown = JSON.parse(raw);
    return typeof uri === 'string' ? JSON.stringify(toQualifiedUri(server, uri)) : raw;
  });
  const embedded = within('resource', qualify);
  return editBlocks(result, parsed, ({ type }) => {
    if (type === 'resource_link') return qualify;
    return type === 'resource' ? embedded : undefined;
  });
}
