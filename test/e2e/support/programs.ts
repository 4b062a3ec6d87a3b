/**
 * Public MCP servers as programs of one machine, each on a folder of the test, and what clients of both eras say to them. Owns the
 * folder. Nothing here leaves the machine: what a server would fetch of its own accord is sent to a port where nobody is.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageProgram, type Program } from './connected.ts';
import type { Gateway } from './gateway.ts';
import type { CallResult } from './raw-client.ts';
import { clients, type McpClient } from './sdk-clients.ts';

const INSTALLED = fileURLToPath(new URL('../../programs/node_modules/', import.meta.url));
const NOBODY = 'http://127.0.0.1:9';

export const ERAS = ['legacy', 'modern'] as const;
export type ClientEra = (typeof ERAS)[number];

export interface Machine {
  /** What its programs may read and write. */
  folder: string;
  programs: Record<'files' | 'memory' | 'everything' | 'desktop', Program>;
  remove(): Promise<void>;
}

/** A machine with the four of them. */
export async function makeMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-programs-'));
  const official = (name: string, ...args: string[]) =>
    packageProgram(`@modelcontextprotocol/server-${name}/dist/index.js`, ...args);
  return {
    folder,
    programs: {
      files: official('filesystem', folder),
      memory: { ...official('memory'), env: { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') } },
      everything: official('everything', 'stdio'),
      desktop: {
        command: process.execPath,
        args: [join(INSTALLED, '@wonderwhy-er/desktop-commander/dist/index.js'), '--no-onboarding'],
        env: {
          HOME: folder,
          DESKTOP_COMMANDER_DISABLE_TELEMETRY: '1',
          NODE_USE_ENV_PROXY: '1',
          HTTP_PROXY: NOBODY,
          HTTPS_PROXY: NOBODY,
        },
      },
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A real client of the era at `/mcp`. */
export const openClient = (
  era: ClientEra,
  { origin, adminToken }: Gateway,
  token = adminToken,
): Promise<McpClient> =>
  clients[era === 'legacy' ? 'SDK 1.x' : 'SDK 2.x pinned to 2026-07-28']({
    url: `${origin}/mcp`,
    token,
  });

/** All text of a result; an error is told with it. */
export function textIn(result: Record<string, unknown>): string {
  const { content, isError } = result as CallResult;
  const text = content.map(part => part.text ?? '').join('\n');
  return isError === true ? `error: ${text}` : text;
}
