/**
 * Calls on an endpoint that lists three tools. Two of them are answered here, from what the caller sees; `call_tool` becomes the
 * call it stands for before anything else sees it, so that access, limits, the audit and the server meet the real tool by its
 * own name, and every byte of its arguments as it came. A real name is a call like on any other endpoint.
 */
import type { RequestContext } from '../request-context.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import { isObject, type Era, type RpcRequest } from '../../shared/protocol.ts';
import { parseCall, parseDescribe, parseSearch } from './meta-arguments.ts';
import { describedText, foundText } from './meta-answers.ts';
import { isMetaTool, type MetaTool } from './meta-tools.ts';
import { ownFailureText } from './own-tools.ts';
import { readCallArguments } from '../params.ts';

/** What is wrong with a name, which a model can put right. */
const NOT_FOUND: ReadonlySet<string> = new Set(['tool_not_found', 'tool_name_unprefixed']);

/** A call: what the client asks for, parsed and raw. */
export interface RealCall {
  request: RpcRequest;
  /** Raw params. */
  params: RawObject;
}

/** What a call of one of the three comes to: an answer, or another call. */
export type MetaCall = { result: string } | RealCall;

/**
 * @returns undefined where the request is no call of one of the three
 * @throws PorticoError `forbidden`, and what is wrong beside the arguments
 */
export async function toMetaCall(
  requestContext: RequestContext,
  request: RpcRequest,
  params: RawObject,
  source: Era,
): Promise<MetaCall | undefined> {
  const name = request.method === 'tools/call' ? request.params?.['name'] : undefined;
  if (requestContext.viewer.tools !== 'search' || !isMetaTool(name)) return undefined;
  try {
    if (name === 'call_tool') return toRealCall(request, params);
    requestContext.context.operation?.is({ tool: name });
    return { result: await answer(requestContext, name, request.params?.['arguments']) };
  } catch (thrown) {
    if (name === 'call_tool' || (thrown instanceof PorticoError && thrown.code === 'forbidden')) {
      const { gateway, viewer, context } = requestContext;
      const refusal = { method: request.method, subject: name, thrown, source };
      await gateway.refused(viewer.caller, refusal, context.waitUntil);
    }
    if (thrown instanceof PorticoError && thrown.code === 'invalid_params') {
      return { result: ownFailureText(thrown) };
    }
    return { result: notFoundText(thrown) };
  }
}

async function answer(
  { gateway, viewer }: RequestContext,
  name: Exclude<MetaTool, 'call_tool'>,
  given: unknown,
): Promise<string> {
  if (name === 'search_tools') {
    const { hits } = await gateway.search(viewer, parseSearch(given));
    return foundText(hits);
  }
  const found: ListedItem[] = [];
  for (const each of parseDescribe(given)) {
    found.push(await gateway.find(viewer, each));
  }
  return describedText(found);
}

/** The call that a call of `call_tool` stands for. @throws PorticoError `invalid_params` */
function toRealCall(request: RpcRequest, params: RawObject): RealCall {
  const given = request.params?.['arguments'];
  const name = parseCall(given);
  const raw = readCallArguments(params.get('arguments'));
  const real = new Map(params).set('name', JSON.stringify(name));
  const parsed = { ...request.params, name };
  const own = raw.get('arguments');
  const ownParsed = isObject(given) ? given['arguments'] : undefined;
  if (own === undefined) real.delete('arguments');
  else real.set('arguments', own);
  return {
    request: { ...request, params: { ...parsed, arguments: ownParsed } },
    params: real,
  };
}

/**
 * A tool that one of the three was asked for and that is not there, as the result of the one that was called: a model can put
 * the name right (2025-11-25, tools, error handling).
 * @throws what it was given, where that is anything else
 */
export function notFoundText(thrown: unknown): string {
  if (!(thrown instanceof PorticoError) || !NOT_FOUND.has(thrown.code)) throw thrown;
  const { code, message, extras } = thrown;
  const said = `${message}; find names with search_tools`;
  return ownFailureText(new PorticoError(code, said, extras));
}
