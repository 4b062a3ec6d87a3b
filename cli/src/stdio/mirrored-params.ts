/**
 * Which parameters of which tool are mirrored in headers (2026-07-28, `x-mcp-header`), learned from the tool lists that pass through.
 * Bounded: above the limit the oldest tools are forgotten, and learned again when the gateway requires their headers.
 */
import {
  parseParamHeaders,
  type ParamHeader,
} from '../../../src/upstream/protocol/param-headers.ts';
import { isObject, type JsonObject } from '../../../src/shared/protocol.ts';

const MAX_TOOLS = 20_000;

export class MirroredParams {
  readonly #tools = new Map<string, readonly ParamHeader[]>();

  /** Learns from the result of a `tools/list`. */
  learn(result: JsonObject): void {
    const { tools } = result;
    if (!Array.isArray(tools)) return;
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
      const parsed = parseParamHeaders(JSON.stringify(tool['inputSchema'] ?? {}));
      this.#tools.delete(tool['name']);
      // A tool without mirrored parameters is not stored.
      if (!('valid' in parsed) || parsed.valid.length === 0) continue;
      this.#tools.set(tool['name'], parsed.valid);
      if (this.#tools.size <= MAX_TOOLS) continue;
      const [oldest] = this.#tools.keys();
      if (oldest !== undefined) this.#tools.delete(oldest);
    }
  }

  of(tool: unknown): readonly ParamHeader[] {
    return (typeof tool === 'string' ? this.#tools.get(tool) : undefined) ?? [];
  }
}
