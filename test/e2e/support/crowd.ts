/** Fifteen public MCP servers as programs of a machine, and what each lists by itself. They run offline, in a folder of the test. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageProgram, type Program } from './connected.ts';

const INSTALLED = fileURLToPath(new URL('../../programs/node_modules/', import.meta.url));
const WAIT_MS = 120_000;

const inProcess = (script: string, ...args: string[]): Program => ({
  command: process.execPath,
  args: [join(INSTALLED, script), ...args],
});
const official = (name: string, ...args: string[]) =>
  inProcess(`@modelcontextprotocol/server-${name}/dist/index.js`, ...args);
const own = (name: string, ...args: string[]) =>
  packageProgram(`@modelcontextprotocol/server-${name}/dist/index.js`, ...args);

/** The fifteen entries as in a user's `mcp.json`, and one that does not exist. @param folder of the test */
export function crowdOf(folder: string): Record<string, Program> {
  const memory = own('memory');
  return {
    everything: own('everything', 'stdio'),
    // Asks for roots as soon as a client has them.
    files: own('filesystem', folder),
    // Prints lines that are no messages before it speaks.
    chatty: {
      command: '/bin/sh',
      args: [
        '-c',
        'echo "Hello from a wrapper!"; echo "{}"; exec "$@"',
        'sh',
        memory.command,
      ].concat(memory.args ?? []),
      env: { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') },
    },
    desktop: inProcess('@wonderwhy-er/desktop-commander/dist/index.js', '--no-onboarding'),
    // Its database address has a port on which nothing listens.
    postgres: official('postgres', 'postgresql://127.0.0.1:9/nothing'),
    // Both have `$ref` in their schemas.
    thinking: official('sequential-thinking'),
    notion: inProcess('@notionhq/notion-mcp-server/bin/cli.mjs'),
    github: official('github'),
    context7: inProcess('@upstash/context7-mcp/dist/index.js'),
    tavily: inProcess('tavily-mcp/build/index.js'),
    commands: inProcess('mcp-server-commands/build/index.js'),
    // Each exits at once because its key is missing.
    slack: official('slack'),
    brave: official('brave-search'),
    gitlab: official('gitlab'),
    maps: official('google-maps'),
    missing: { command: 'no-program-of-this-name' },
  };
}

/** Lists the tools of a program directly, without a gateway. */
export async function listDirectly(
  { command, args = [], env = {} }: Program,
  environment: Record<string, string>,
) {
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...environment, ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'portico-e2e', version: '1.0.0' });
  await client.connect(transport, { timeout: WAIT_MS });
  try {
    return (await client.listTools()).tools;
  } finally {
    await client.close();
  }
}
