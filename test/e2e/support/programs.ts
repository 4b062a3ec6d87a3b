/**
 * Public MCP servers as programs of one machine, each in a folder of the test, and clients of both eras. Owns the folder. Nothing here
 * leaves the machine: requests that a server would make by itself go to a port where nothing listens.
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
  /** The folder that its programs may read and write. */
  folder: string;
  programs: Record<'files' | 'memory' | 'everything' | 'desktop', Program>;
  remove(): Promise<void>;
}

/** Makes a machine with the four programs. */
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

/** Opens a real client of the era at `/mcp`. */
export const openClient = (
  era: ClientEra,
  { origin, adminToken }: Gateway,
  token = adminToken,
): Promise<McpClient> =>
  clients[era === 'legacy' ? 'SDK 1.x' : 'SDK 2.x pinned to 2026-07-28']({
    url: `${origin}/mcp`,
    token,
  });

/** Returns all text of a result, and whether it is an error. */
export function textIn(result: Record<string, unknown>): string {
  const { content, isError } = result as CallResult;
  const text = content.map(part => part.text ?? '').join('\n');
  return isError === true ? `error: ${text}` : text;
}
