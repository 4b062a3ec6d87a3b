/**
 * The only access to the protocol: versions, reserved `_meta` keys, JSON-RPC shapes and the SDK's schemas. All other
 * files import protocol facts from here, never from the SDK.
 *
 * Source: MCP specification 2026-07-28 (basic/index, basic/versioning, transports) and 2025-11-25.
 */
export {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
} from '@modelcontextprotocol/core';

/** Product name and version, as sent to clients (`serverInfo`) and servers (`clientInfo`). */
export const IMPLEMENTATION = { name: 'portico', version: '0.1.0' } as const;

/** The two families of revisions: `modern` is stateless, `legacy` opens with `initialize`. */
export type Era = 'legacy' | 'modern';

export const MODERN_VERSION = '2026-07-28';
export const LATEST_LEGACY_VERSION = '2025-11-25';
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
];

/** Reserved `_meta` keys of the modern era (2026-07-28, basic/index). */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  /** Legacy era only: the task a message belongs to (2025-11-25, tasks). */
  relatedTask: 'io.modelcontextprotocol/related-task',
} as const;

/** The extension for tasks (2026-07-28); in the legacy era tasks are a capability. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Severities of log messages, least severe first (both eras, logging). */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON-RPC and MCP error codes that Portico itself emits. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Legacy era only; the modern one uses invalidParams. */
  legacyResourceNotFound: -32002,
  /** Revision 2025-11-25 only. */
  urlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

/** An integer past 2^53 is a bigint, so that no two ids become equal and a response repeats its exact digits. */
export type RequestId = string | number | bigint;

/** A validated request; `params` is absent or an object. */
export interface RpcRequest {
  jsonrpc: '2.0';
  id: RequestId;
  method: string;
  params?: Record<string, unknown>;
}

export type JsonObject = Record<string, unknown>;

/** Narrows an unknown value to a plain JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether a value may be a request id: a string or an integer, never null. An integer past 2^53 passes only as the
 * bigint of `withExactIds`.
 */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'bigint' || Number.isSafeInteger(value);
}

/** Digits of a safe integer, as `isRequestId` accepts it. */
const NUMBER_AS_TEXT = /^(?:0|[1-9]\d{0,14})$/;

/**
 * Returns the id that a server sent back, in a response or in progress, as the number that Portico sent.
 * Some servers send the number as text, and clients of the SDK accept that.
 */
export function toOwnId<T>(id: T): T | number {
  return typeof id === 'string' && NUMBER_AS_TEXT.test(id) ? Number(id) : id;
}

/** Returns the JSON text of an id with its exact digits. */
export function idText(id: RequestId | null): string {
  return typeof id === 'bigint' ? id.toString() : JSON.stringify(id);
}
