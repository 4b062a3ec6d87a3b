/**
 * Makes the calls of a model through the gateway like anybody else's: with the same names, rights, limits and audit rows. A failure is the
 * result of its own call, in words by which a model can correct itself; the other calls continue. Results are cut to what a model can be
 * given.
 *
 * Invariants: a tool that the model was not shown is never dispatched, whether unknown or hidden; no call is dispatched twice, and none
 * whose arguments cannot be read or whose turn did not end normally. Arguments are sent as they were parsed and perhaps checked, never as
 * text that was not.
 */
import type { ListedItem } from '../gateway/listing.ts';
import type { Naming, CallerView, Viewer } from '../gateway/viewer.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toToolResultText } from '../shared/errors/to-tool-result.ts';
import { boundResult } from '../models/formats/bound-result.ts';
import type { ExportedTools } from '../models/formats/dialect.ts';
import type {
  CanonicalCall,
  CanonicalResult,
  CanonicalTool,
} from '../models/formats/canonical-form.ts';
import { toNotMade } from '../models/formats/turn-end.ts';
import { callTool } from '../gateway/call-tool.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { ServerFailure } from '../gateway/server-failure.ts';
import { toOneLine } from '../shared/util/one-line.ts';
import { IMPLEMENTATION, isObject, RPC, type Era, type JsonObject } from '../shared/protocol.ts';
import type { CallContext } from '../upstream/protocol/call.ts';

/** Most calls of one turn that run at once. */
export const MAX_PARALLEL_CALLS = 6;

/** The style of names that every dialect accepts. */
export const MODEL_NAMING: Naming = { kind: 'qualified', style: 'underscore' };

const MAX_NAME_CHARS = 120;
const MAX_MESSAGE_CHARS = 2_000;

/** Who calls, and within what. */
export interface CallsFor {
  gateway: Gateway;
  /** Names tools as `MODEL_NAMING` does. */
  viewer: Viewer;
  source: Era | 'rest';
  context: Pick<CallContext, 'signal' | 'origin' | 'owner' | 'waitUntil' | 'bytes' | 'operation'>;
  /** The tools that the model was shown, by their names in its dialect. */
  tools: ReadonlyMap<string, ListedItem>;
  /** Turns a model's arguments back into those of the tool (`ExportedTools.toArguments`); absent where the caller has done so already. */
  toArguments?: ExportedTools['toArguments'];
}

/** Called for each call as it proceeds. */
export interface CallsWatch {
  onStart?(call: CanonicalCall): void;
  onEnd?(call: CanonicalCall, result: CanonicalResult): void;
}

/** Returns a listed tool in canonical form; leaves out malformed parts of its description. */
export function toCanonicalTool({ name, item }: ListedItem): CanonicalTool {
  const description: unknown = JSON.parse(item.raw.get('description') ?? 'null');
  const schema: unknown = JSON.parse(item.raw.get('inputSchema') ?? 'null');
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: isObject(schema) ? schema : { type: 'object' },
  };
}

/** Lists the tools that a caller sees, under the names of `MODEL_NAMING`, and the items by those names. */
export async function listForModel(
  gateway: Gateway,
  view: CallerView,
): Promise<{ tools: CanonicalTool[]; items: ReadonlyMap<string, ListedItem> }> {
  const { items } = await gateway.list({ ...view, naming: MODEL_NAMING }, 'tools');
  return {
    tools: items.map(toCanonicalTool),
    items: new Map(items.map(item => [item.name, item])),
  };
}

/**
 * Makes calls and returns their results in the order of the calls.
 * @throws the reason of the signal, where that aborts; never because of one call
 */
export async function runCalls(
  calls: readonly CanonicalCall[],
  to: CallsFor,
  watch: CallsWatch = {},
): Promise<CanonicalResult[]> {
  const results: CanonicalResult[] = [];
  const waiting = calls.entries();
  const work = async () => {
    for (const [index, call] of waiting) {
      to.context.signal.throwIfAborted();
      watch.onStart?.(call);
      const result = { id: call.id, name: call.name, result: await resultOf(call, to) };
      results[index] = result;
      watch.onEnd?.(call, result);
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL_CALLS }, work));
  to.context.signal.throwIfAborted();
  return results;
}

async function resultOf(call: CanonicalCall, to: CallsFor): Promise<JsonObject> {
  try {
    const listed = to.tools.get(call.name);
    if (call.unmade !== undefined) {
      const problem = new PorticoError('invalid_params', toNotMade(call.unmade));
      return await refused(call, to, problem, listed?.name);
    }
    if (!listed) return await refused(call, to, new PorticoError('tool_not_found', unknown(call)));
    if (call.arguments === undefined) {
      const problem = call.problem ?? 'The arguments cannot be read';
      return await refused(call, to, new PorticoError('invalid_params', problem), listed.name);
    }
    const given = to.toArguments?.(call.name, call.arguments) ?? call.arguments;
    return boundResult(await dispatch(listed, given, to));
  } catch (thrown) {
    to.context.signal.throwIfAborted();
    return toFailed(thrown);
  }
}

const unknown = ({ name }: CanonicalCall) =>
  `There is no tool ${toOneLine(name, MAX_NAME_CHARS)}; call one of those you were given, by its exact name`;

/** Refuses a call that never leaves; like any other refusal it gets an audit row. */
async function refused(
  { name }: CanonicalCall,
  { gateway, viewer, source, context }: CallsFor,
  thrown: PorticoError,
  subject = name,
): Promise<JsonObject> {
  const refusal = { method: 'tools/call', subject, thrown, source };
  await gateway.refused(viewer.caller, refusal, context.waitUntil);
  return toFailed(thrown);
}

async function dispatch(
  { name }: ListedItem,
  given: JsonObject,
  { gateway, viewer, source, context }: CallsFor,
): Promise<JsonObject> {
  const args = JSON.stringify(given);
  const call = { viewer, name, args, source, context };
  const { server, response } = await callTool(gateway, call);
  if (!response) throw new ServerFailure(server, new PorticoError('upstream_needs_input'));
  if ('error' in response) throw new ServerFailure(server, toUpstreamError(response.parsed));
  const result = JSON.parse(response.result) as JsonObject;
  return 'content' in result ? result : { content: [], ...result };
}

/** Converts a server's JSON-RPC error, with a hint on what to do where that is known. */
function toUpstreamError({ code, message }: JsonObject): PorticoError {
  const said = toOneLine(String(message), MAX_MESSAGE_CHARS);
  const hint = code === RPC.invalidParams ? '; correct the arguments and call again' : '';
  return new PorticoError('upstream_4xx', `${said} (${String(code)})${hint}`);
}

/** Turns an error into a result; the text of an error that is not the gateway's own is never shown. */
function toFailed(thrown: unknown): JsonObject {
  const isServer = thrown instanceof ServerFailure;
  const text = isServer
    ? toToolResultText(thrown.reason, thrown.server.name)
    : toToolResultText(toPorticoError(thrown), IMPLEMENTATION.name);
  return JSON.parse(text) as JsonObject;
}
