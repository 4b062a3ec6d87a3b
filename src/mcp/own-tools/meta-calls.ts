/**
 * Calls on an endpoint that lists the three meta tools. Two of them are answered here, from what the caller sees. `call_tool` becomes the
 * call that it stands for before any other code sees it, so that access, limits, the audit and the server get the real tool by its own
 * name, with every byte of its arguments as it came. A call by a real name works like on any other endpoint.
 */
import type { RequestContext } from '../request-context.ts';
import type { ListedItem } from '../../gateway/listing.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { RawObject } from '../../shared/json/json-spans.ts';
import { noteFailed } from '../../gateway/steps/observe.ts';
import { isObject, type Era, type RpcRequest } from '../../shared/protocol.ts';
import { toEnding } from '../../telemetry/operation.ts';
import { parseCall, parseDescribe, parseSearch } from './meta-arguments.ts';
import { refusedAsResult, withSchema } from './failed-arguments.ts';
import { describedText } from './meta-answers.ts';
import { answerSearch } from './meta-search.ts';
import { isMetaTool, type MetaTool } from './meta-tools.ts';
import { nearestTools } from './nearest-tools.ts';
import { ownFailureText } from './own-tools.ts';
import { readCallArguments } from '../params.ts';
import type { Relayable } from '../reply/relay-messages.ts';
import { toOneLine } from '../../shared/util/one-line.ts';
import { MAX_NAME_CHARS } from '../../shared/util/name-limits.ts';

/** Errors about a name, which a model can correct. */
const NOT_FOUND: ReadonlySet<string> = new Set(['tool_not_found', 'tool_name_unprefixed']);

/** A call that the client asks for, parsed and raw. */
export interface RealCall {
  request: RpcRequest;
  params: RawObject;
}

/** What a call of a meta tool becomes: a result, or another call. */
export type MetaCall = { result: string } | RealCall;

/**
 * @returns undefined where the request calls no meta tool
 * @throws PorticoError `forbidden`, and errors that do not concern the arguments
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
    noteFailed(requestContext.context, thrown);
    if (name === 'call_tool' || (thrown instanceof PorticoError && thrown.code === 'forbidden')) {
      const { gateway, viewer, context } = requestContext;
      const refusal = { method: request.method, subject: name, thrown, source };
      await gateway.refused(viewer.caller, refusal, context.waitUntil);
    }
    if (thrown instanceof PorticoError && thrown.code === 'invalid_params') {
      return { result: ownFailureText(thrown) };
    }
    throw thrown;
  }
}

function answer(
  requestContext: RequestContext,
  name: Exclude<MetaTool, 'call_tool'>,
  given: unknown,
): Promise<string> {
  return name === 'search_tools'
    ? answerSearch(requestContext, parseSearch(given))
    : answerDescribe(requestContext, parseDescribe(given));
}

async function answerDescribe(
  requestContext: RequestContext,
  names: readonly string[],
): Promise<string> {
  const { gateway, viewer } = requestContext;
  const found: ListedItem[] = [];
  for (const name of names) {
    try {
      found.push(await gateway.find(viewer, name));
    } catch (thrown) {
      return notFoundText(requestContext, thrown, name);
    }
  }
  return describedText(found);
}

/** Returns the call that a call of `call_tool` stands for. @throws PorticoError `invalid_params` */
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
 * Turns the error that a tool was not found into a result of the meta tool, so that a model can correct the name (2025-11-25, tools, error
 * handling). The nearest names come from what the caller sees.
 * @throws the given value, where it is any other error
 */
export async function notFoundText(
  { gateway, viewer, context }: RequestContext,
  thrown: unknown,
  wanted: string,
): Promise<string> {
  if (!(thrown instanceof PorticoError) || !NOT_FOUND.has(thrown.code)) throw thrown;
  const { code, message, extras } = thrown;
  context.operation?.ends(toEnding(code));
  const listing = await ifReadable(gateway.list(viewer, 'tools'));
  const names = listing ? nearestTools(wanted, listing) : [];
  const near = names.length === 0 ? '' : `; nearest: ${names.map(toShown).join(', ')}`;
  const said = `${message}${near}; find names with search_tools`;
  return ownFailureText(new PorticoError(code, said, extras));
}

const toShown = (name: string) => toOneLine(name, MAX_NAME_CHARS);

/**
 * Reads something that only improves an answer; undefined where the caller may not read it. A failed read never fails a call that was made.
 */
const ifReadable = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch(() => undefined);

/**
 * Adds what the tool takes to the answer of a call whose arguments were at fault, for callers that may read it. The tool is looked up once
 * its server has begun to answer, so that no call waits for it.
 */
export function mendOf(
  { gateway, viewer }: RequestContext,
  { request, params }: RealCall,
): (routed: Relayable) => Promise<Relayable> {
  const name = String(request.params?.['name']);
  const given = params.get('arguments') ?? '{}';
  return async routed => {
    const tool = await ifReadable(gateway.find(viewer, name));
    if (!tool) return routed;
    const call = { tool, given };
    return {
      ...routed,
      toResult(text, parsed) {
        const own = routed.toResult?.(text, parsed) ?? text;
        return withSchema(own, parsed, call);
      },
      toRefusedResult: error => refusedAsResult(error, call, routed.server.name),
    };
  };
}
