/**
 * The client that the suite runs: `client-driver.ts URL`, with the scenario in its environment. It registers the suite's
 * server with a running gateway and then uses the gateway as a user does, so that every request the suite sees is one
 * of the gateway's. It speaks to the gateway in the era of the revision. Without PORTICO_CONFORMANCE_ORIGIN the same user goes to
 * the suite's server directly: what then fails is the user's fault and not the gateway's.
 */
import { randomUUID } from 'node:crypto';
import { createApi } from '../../local/api.ts';
import { CLIENT_CREDENTIALS } from './requirements.ts';
import { DONE } from './suite.ts';
import { connectUser } from './user.ts';
import type { User } from './user.ts';

const CONNECT_TIMEOUT_MS = 6_000;

/** Scenarios whose user must see every tool that the gateway lists, which a modern client would not show it. */
const LISTS_ALL = new Set(['http-invalid-tool-headers']);

interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
}

const readEnvironment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
};

/** Calls tools one after the other. What the server answers is for the suite to judge. */
async function callAll(user: User, calls: ToolCall[]): Promise<void> {
  for (const call of calls) await user.callTool(call.name, call.arguments);
}

const named =
  (...names: string[]) =>
  (user: User) =>
    callAll(
      user,
      names.map(name => ({ name, arguments: {} })),
    );

/** What a user does in a scenario, after the server is registered and its tools are listed. */
const scenarios: Record<string, (user: User) => Promise<void>> = {
  initialize: async () => {},
  'request-metadata': async () => {},
  'json-schema-ref-no-deref': async () => {},
  tools_call: user => callAll(user, [{ name: 'add_numbers', arguments: { a: 5, b: 3 } }]),
  'elicitation-sep1034-client-defaults': named('test_client_elicitation_defaults'),
  'sse-retry': named('test_reconnection'),
  'sep-2322-client-request-state': named(
    'test_mrtr_echo_state',
    'test_mrtr_no_state',
    'test_mrtr_unrelated',
    'test_mrtr_no_result_type',
  ),
  'http-standard-headers': async user => {
    const [tool] = await user.listTools();
    const [resource] = await user.listResources();
    const [prompt] = await user.listPrompts();
    if (!tool || !resource || !prompt) throw new Error('Something is not listed');
    await user.callTool(tool.name, {});
    await user.readResource(resource.uri);
    await user.getPrompt(prompt.name);
  },
  'http-custom-headers': user => {
    const context = JSON.parse(readEnvironment('MCP_CONFORMANCE_CONTEXT')) as {
      toolCalls: ToolCall[];
    };
    return callAll(user, context.toolCalls);
  },
  // Every tool that is still listed is called; the suite sees the invalid ones that should have gone.
  'http-invalid-tool-headers': async user => {
    const tools = await user.listTools();
    await callAll(
      user,
      tools.map(({ name }) => ({ name, arguments: { region: 'us-west1' } })),
    );
  },
  'json-schema-2020-12-preservation': async user => {
    const tools = await user.listTools();
    const focal = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await user.callTool('json_schema_echo', { schema: focal?.inputSchema });
  },
};

/** How the gateway signs in, where a scenario is about what it can do by itself. */
function authOf(scenario: string): { auth?: object } {
  if (scenario !== CLIENT_CREDENTIALS) return {};
  const context = JSON.parse(readEnvironment('MCP_CONFORMANCE_CONTEXT')) as Record<string, string>;
  const { client_id, client_secret } = context;
  return { auth: { type: 'client_credentials', client_id, client_secret } };
}

/** Registers the suite's server with the gateway, lets `work` use it there, and unregisters it. */
async function throughGateway(
  origin: string,
  url: string,
  work: (endpoint: string, token: string) => Promise<void>,
): Promise<void> {
  const token = readEnvironment('PORTICO_CONFORMANCE_TOKEN');
  const api = createApi(origin, token);
  const name = `suite-${randomUUID().slice(0, 8)}`;
  const connection_config = { url, ...authOf(readEnvironment('MCP_CONFORMANCE_SCENARIO')) };
  const connection = { transport_type: 'HTTP' as const, connection_config };
  const record = await api.createServer({ name, ...connection });
  try {
    // A server that wants a sign-in says so at once; any other may take a second look.
    const ends = readEnvironment('MCP_CONFORMANCE_SCENARIO').startsWith('auth/')
      ? (['CONNECTED', 'ERROR'] as const)
      : (['CONNECTED'] as const);
    const { status, last_error: error } = await api.waitForServer(
      record.id,
      ends,
      CONNECT_TIMEOUT_MS,
    );
    if (status !== 'CONNECTED') throw new Error(`The suite's server is ${status}: ${error ?? ''}`);
    await work(`${origin}/mcp/servers/${name}`, token);
  } finally {
    await api.deleteServer(record.id);
  }
}

async function drive(url: string): Promise<void> {
  const scenario = readEnvironment('MCP_CONFORMANCE_SCENARIO');
  const revision = readEnvironment('MCP_CONFORMANCE_PROTOCOL_VERSION');
  const origin = process.env['PORTICO_CONFORMANCE_ORIGIN'];
  const act = scenarios[scenario] ?? named('test-tool');
  const use = async (endpoint: string, token: string, era: string) => {
    const user = await connectUser(endpoint, token, era);
    await user.listTools();
    await act(user);
    await user.close();
  };
  if (origin === undefined) return use(url, 'none', revision);
  const era = LISTS_ALL.has(scenario) ? '2025-11-25' : revision;
  return throughGateway(origin, url, (endpoint, token) => use(endpoint, token, era));
}

try {
  await drive(process.argv.at(-1) ?? '');
  process.stdout.write(`${DONE}\n`, () => process.exit(0));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n`, () => process.exit(1));
}
