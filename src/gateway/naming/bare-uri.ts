/**
 * Finds the server of a URI that carries no server's name, as results had them before they were qualified: the server that lists the URI or
 * has a template for it. If several do, the URI names none of them, or a server could take over what another one has.
 */
import type { Catalog } from '../../servers/catalog/catalog.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { toQualifiedUri } from '../../shared/naming/qualified-uri.ts';

/** Most servers that an error names if several have a URI. */
const MAX_NAMED = 5;

/**
 * @param catalogs what the caller sees of each server
 * @returns undefined if no server has it
 * @throws PorticoError `invalid_params` if several have it
 */
export function ownerOf(
  uri: string,
  servers: readonly Server[],
  catalogs: readonly Catalog[],
): Server | undefined {
  const owners = servers.filter((_, i) => has(catalogs[i], uri));
  if (owners.length < 2) return owners[0];
  const named = owners.slice(0, MAX_NAMED).map(({ name }) => toQualifiedUri(name, uri));
  const more = owners.length > named.length ? ', …' : '';
  const said = `Several servers have this resource; ask for one of ${named.join(', ')}${more}`;
  throw new PorticoError('invalid_params', said);
}

function has(catalog: Catalog | undefined, uri: string): boolean {
  if (!catalog) return false;
  if (catalog.resources.byKey.has(uri)) return true;
  return catalog.resourceTemplates.items.some(({ key }) => mayBeOf(key, uri));
}

/**
 * Whether a URI begins and ends as a template does (RFC 6570). This accepts some URIs that the template cannot produce, which the server
 * then refuses; if a template has one simple variable, its value has no slash. A template that begins with a variable matches no URI, since
 * it would match all.
 */
export function mayBeOf(template: string, uri: string): boolean {
  const open = template.indexOf('{');
  const close = template.lastIndexOf('}');
  if (open < 1 || close < open) return false;
  const expressions = template.slice(open, close + 1);
  // A query or a fragment may be missing as a whole.
  const end = template.slice(close + 1);
  if (uri.length < open + end.length) return false;
  if (!uri.startsWith(template.slice(0, open)) || !uri.endsWith(end)) return false;
  const value = uri.slice(open, uri.length - end.length);
  return !/^\{\w[^{}]*\}$/.test(expressions) || !/[/?#]/.test(value);
}
